//! What is delivered: one folder and an archive of it. It is a CMake package and a Zephyr module, and
//! holds an Arduino library.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::build::{self, Library};
use super::{HEADER, TARGETS};
use crate::outcome::Failures;
use crate::project::Project;

/// Folders of the Arduino library, by what its build calls a processor and a floating-point unit.
const ARDUINO: [(&str, &str); 10] = [
    ("cortex-m0", "thumbv6m-none-eabi"),
    ("cortex-m0plus", "thumbv6m-none-eabi"),
    ("cortex-m3", "thumbv7m-none-eabi"),
    ("cortex-m4/fpv4-sp-d16-hard", "thumbv7em-none-eabihf"),
    // Numbers in integer registers: what has no floating-point unit fits.
    ("cortex-m4/fpv4-sp-d16-softfp", "thumbv7m-none-eabi"),
    ("cortex-m7/fpv4-sp-d16-hard", "thumbv7em-none-eabihf"),
    ("cortex-m7/fpv5-d16-softfp", "thumbv7m-none-eabi"),
    ("cortex-m33/fpv5-sp-d16-hard", "thumbv8m.main-none-eabihf"),
    ("cortex-m33/fpv5-sp-d16-softfp", "thumbv7m-none-eabi"),
    ("esp32c3", "riscv32imc-unknown-none-elf"),
];

/// Files that are copied as they are, and where to.
const COPIED: [(&str, &str); 13] = [
    (HEADER, "include/fastmmd.h"),
    (HEADER, "arduino/fastmmd/src/fastmmd.h"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("capi/README.md", "README.md"),
    ("capi/example/main.c", "example/main.c"),
    ("capi/example/rows.h", "example/rows.h"),
    ("capi/example/board.c", "example/board.c"),
    ("capi/example/board.h", "example/board.h"),
    ("capi/example/board.ld", "example/board.ld"),
    ("capi/package/zephyr/module.yml", "zephyr/module.yml"),
    ("capi/package/zephyr/Kconfig", "zephyr/Kconfig"),
    ("capi/package/zephyr/CMakeLists.txt", "zephyr/CMakeLists.txt"),
];

/// Files in which words between @ are replaced, and where to.
const FILLED: [(&str, &str); 4] = [
    ("capi/package/cmake/fastmmd-config.cmake", "lib/cmake/fastmmd/fastmmd-config.cmake"),
    (
        "capi/package/cmake/fastmmd-config-version.cmake",
        "lib/cmake/fastmmd/fastmmd-config-version.cmake",
    ),
    ("capi/package/arduino/library.properties", "arduino/fastmmd/library.properties"),
    ("capi/package/arduino/examples/Drift/Drift.ino", "arduino/fastmmd/examples/Drift/Drift.ino"),
];

pub(super) fn run(project: &Project, libraries: &[Library], failures: &mut Failures) -> Result<()> {
    let name = format!("fastmmd-{}", env!("CARGO_PKG_VERSION"));
    let all = project.scratch("capi");
    let folder = all.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fill(project, libraries, &folder)?;
    sums(project, &folder)?;
    failures.note("the checksums are those of the files", verify(project, &folder));
    failures.note("control: an altered file is noticed", altered(project, &folder));
    failures.note("no path of this machine is in a library", has_no_paths(project, &folder));
    failures.note("control: such paths are noticed, and no others", has_a_path(project));
    failures.note("CMake finds the package, and links", cmake(project, &folder));
    failures.note("CMake guesses the library by the compiler's flags", guesses(project, &folder));
    failures.note("Zephyr's build is given a library for each core", zephyr(project, &folder));
    failures.note("the Arduino sketch compiles", sketch(project, &folder));
    let archive = all.join(format!("{name}.tar.gz"));
    let tar = project.tool("tar").within(&all);
    let tar = tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg("-czf").arg(&archive).arg(&name).run()?;
    println!("    the library for C: {}", folder.display());
    println!("    the same in one file: {}", archive.display());
    Ok(())
}

/// Copies everything to its place.
fn fill(project: &Project, libraries: &[Library], folder: &Path) -> Result<()> {
    for (from, to) in COPIED {
        write(&folder.join(to), project.read(from)?.as_bytes())?;
    }
    let version = env!("CARGO_PKG_VERSION");
    let series = version.rsplit_once('.').context("a version has three parts")?.0;
    let host = build::host(project)?;
    for (from, to) in FILLED {
        let text = project.read(from)?.replace("@VERSION@", version);
        let text = text.replace("@SERIES@", series).replace("@HOST@", &host);
        write(&folder.join(to), text.as_bytes())?;
    }
    for Library { target, file } in libraries {
        let copy = folder.join("lib").join(target).join("libfastmmd.a");
        write(&copy, &fs::read(file)?)?;
        // Debugging information of the compiler's own routines is most of it.
        project.llvm_tool("llvm-strip")?.arg("--strip-debug").arg(&copy).run()?;
    }
    for (place, target) in ARDUINO {
        let library = fs::read(folder.join("lib").join(target).join("libfastmmd.a"))?;
        let copy = folder.join("arduino/fastmmd/src").join(place).join("libfastmmd.a");
        write(&copy, &library)?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let text = project.read(licence)?;
        write(&folder.join("arduino/fastmmd").join(licence), text.as_bytes())?;
    }
    Ok(())
}

fn write(file: &Path, content: &[u8]) -> Result<()> {
    let directory = file.parent().context("a file is in a folder")?;
    fs::create_dir_all(directory)?;
    fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

const SUMS: &str = "SHA256SUMS";

/// Every file of a folder, by its path in it.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    fn visit(folder: &Path, within: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
        for entry in fs::read_dir(folder.join(within))? {
            let entry = entry?;
            let path = within.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                visit(folder, &path, found)?;
            } else {
                found.push(path);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    visit(folder, Path::new(""), &mut found)?;
    found.sort();
    Ok(found)
}

fn sums(project: &Project, folder: &Path) -> Result<()> {
    let sums = project.tool("sha256sum").within(folder).quiet_args(files(folder)?).output()?;
    write(&folder.join(SUMS), sums.as_bytes())
}

fn verify(project: &Project, folder: &Path) -> Result<()> {
    project.tool("sha256sum").within(folder).args(["--check", "--strict", SUMS]).run()
}

fn altered(project: &Project, folder: &Path) -> Result<()> {
    let file = folder.join("include/fastmmd.h");
    let content = fs::read(&file)?;
    fs::write(&file, [content.as_slice(), b" "].concat())?;
    let check = project.tool("sha256sum").within(folder).args(["--check", SUMS]).attempt()?;
    fs::write(&file, content)?;
    if check.success { bail!("it was not") } else { Ok(()) }
}

/// Folders of the computer that builds, as they would stand in a path: of the checkout, of the user, where
/// cargo keeps its sources, and of cargo, if it keeps them elsewhere.
fn own_folders(project: &Project) -> Vec<String> {
    let checkout = Some(project.path("").to_string_lossy().into_owned());
    let set = ["HOME", "CARGO_HOME"].map(|name| std::env::var(name).ok());
    let folders = [checkout].into_iter().chain(set).flatten();
    let folders = folders.map(|folder| folder.trim_end_matches('/').to_owned() + "/");
    folders.filter(|folder| folder.len() > 1).collect()
}

/// Looks for them in all that is delivered.
fn has_no_paths(project: &Project, folder: &Path) -> Result<()> {
    let folders = own_folders(project);
    for file in files(folder)? {
        let content = fs::read(folder.join(&file))?;
        let holds =
            |path: &&String| content.windows(path.len()).any(|part| part == path.as_bytes());
        if let Some(path) = folders.iter().find(holds) {
            bail!("{path} is in {}", file.display());
        }
    }
    Ok(())
}

fn has_a_path(project: &Project) -> Result<()> {
    let directory = fresh(project, "capi-paths")?;
    let file = directory.join("file");
    for path in own_folders(project) {
        write(&file, format!("before {path}a.rs after").as_bytes())?;
        if has_no_paths(project, &directory).is_ok() {
            bail!("{path} was not");
        }
    }
    write(&file, b"a homely root of users, in ../home and https://example.org/home")?;
    has_no_paths(project, &directory)
}

/// A project for CMake that uses the package: the test of misuse, on the host.
fn cmake(project: &Project, folder: &Path) -> Result<()> {
    let directory = fresh(project, "capi-cmake")?;
    let source = project.path("capi/example/misuse.c");
    let lists = format!(
        "cmake_minimum_required(VERSION 3.20)\nproject(user C)\nset(CMAKE_C_STANDARD 99)\n\
         find_package(fastmmd {} CONFIG REQUIRED)\nadd_executable(user \"{}\")\n\
         target_link_libraries(user PRIVATE fastmmd::fastmmd)\n",
        env!("CARGO_PKG_VERSION"),
        source.display()
    );
    write(&directory.join("CMakeLists.txt"), lists.as_bytes())?;
    let build = directory.join("build");
    let configure = |build: &Path| {
        let cmake = project.tool("cmake").arg("-S").arg(&directory).arg("-B").arg(build);
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", folder.display()))
    };
    configure(&build).run()?;
    project.tool("cmake").arg("--build").arg(&build).run()?;
    project.program(&build.join("user"), "user").run()?;
    // The control: a processor that there is no library for.
    let refused = configure(&directory.join("refused")).arg("-DFASTMMD_TARGET=z80").attempt()?;
    if refused.success || !refused.stderr.contains("no library for z80") {
        bail!("a target without a library was not refused:\n{}", refused.stderr);
    }
    Ok(())
}

/// Flags of a compiler, and the library that goes with them.
const FLAGS: [(&str, &str); 8] = [
    ("-mcpu=cortex-m0plus", "thumbv6m-none-eabi"),
    ("-mcpu=cortex-m3", "thumbv7m-none-eabi"),
    ("-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard", "thumbv7em-none-eabihf"),
    ("-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=softfp", "thumbv7m-none-eabi"),
    ("-mcpu=cortex-m33 -mfloat-abi=hard", "thumbv8m.main-none-eabihf"),
    ("-mcpu=cortex-m35p", "thumbv7m-none-eabi"),
    ("-mfloat-abi=hard -mfpu=fpv4-sp-d16 -mcpu=cortex-m4", "thumbv7em-none-eabihf"),
    // Refused, with what to set.
    ("-march=armv7e-m", ""),
];

/// Configures a project for each kind of flags.
fn guesses(project: &Project, folder: &Path) -> Result<()> {
    let directory = fresh(project, "capi-guesses")?;
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(user C)\n\
                 find_package(fastmmd CONFIG REQUIRED)\nmessage(\"chosen ${FASTMMD_TARGET}\")\n";
    write(&directory.join("CMakeLists.txt"), lists.as_bytes())?;
    for (number, (flags, target)) in FLAGS.iter().enumerate() {
        let cmake = project.tool("cmake").arg("-S").arg(&directory).arg("-B");
        let told = cmake
            .arg(directory.join(format!("build-{number}")))
            .args(["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc"])
            .arg("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")
            .arg(format!("-Dfastmmd_DIR={}", folder.join("lib/cmake/fastmmd").display()))
            .arg(format!("-DCMAKE_C_FLAGS=-mthumb {flags}"))
            .attempt()?;
        let refused = !told.success && told.stderr.contains("FASTMMD_TARGET");
        let chosen = told.stderr.lines().any(|line| line == format!("chosen {target}"));
        if !(chosen || target.is_empty() && refused) {
            bail!("for {flags}, not {target}:\n{}{}", told.stdout, told.stderr);
        }
    }
    Ok(())
}

/// Zephyr's settings of a core, and the library that goes with them.
const ZEPHYR: [(&str, &str); 6] = [
    ("ARMV6_M_ARMV8_M_BASELINE", "thumbv6m-none-eabi"),
    ("ARMV7_M_ARMV8_M_MAINLINE", "thumbv7m-none-eabi"),
    ("ARMV7_M_ARMV8_M_MAINLINE;FP_HARDABI", "thumbv7em-none-eabihf"),
    ("ARMV7_M_ARMV8_M_MAINLINE;ARMV8_M_MAINLINE", "thumbv7m-none-eabi"),
    ("ARMV7_M_ARMV8_M_MAINLINE;ARMV8_M_MAINLINE;FP_HARDABI", "thumbv8m.main-none-eabihf"),
    ("RISCV", "riscv32imc-unknown-none-elf"),
];

/// Runs the module's build with functions in place of Zephyr's that print what they are given.
fn zephyr(project: &Project, folder: &Path) -> Result<()> {
    let directory = fresh(project, "capi-zephyr")?;
    let script = directory.join("build.cmake");
    let lists = folder.join("zephyr/CMakeLists.txt");
    let text = format!(
        "function(zephyr_include_directories)\nmessage(\"include ${{ARGV}}\")\nendfunction()\n\
         function(zephyr_link_libraries)\nmessage(\"link ${{ARGV}}\")\nendfunction()\n\
         foreach(setting FASTMMD ${{SETTINGS}})\nset(CONFIG_${{setting}} y)\nendforeach()\n\
         include(\"{}\")\n",
        lists.display()
    );
    write(&script, text.as_bytes())?;
    let run = |settings: &str| {
        project.tool("cmake").arg(format!("-DSETTINGS={settings}")).arg("-P").arg(&script).attempt()
    };
    let mut seen = Vec::new();
    for (settings, target) in ZEPHYR {
        let told = run(settings)?;
        let place = |line: &str, what: &str| line.strip_prefix(what).map(PathBuf::from);
        let linked = told.stderr.lines().find_map(|line| place(line, "link "));
        let linked = linked.with_context(|| format!("nothing linked:\n{}", told.stderr))?;
        let include = told.stderr.lines().find_map(|line| place(line, "include "));
        if !linked.ends_with(format!("lib/{target}/libfastmmd.a")) || !linked.exists() {
            bail!("for {settings} it links {}", linked.display());
        }
        if !include.is_some_and(|include| include.join("fastmmd.h").exists()) {
            bail!("for {settings} there is no header");
        }
        seen.push(target);
    }
    if run("X86")?.success {
        bail!("a processor without a library is not refused");
    }
    match TARGETS.iter().find(|target| !seen.contains(target)) {
        Some(target) => bail!("no settings give the library for {target}"),
        None => Ok(()),
    }
}

/// What the sketch needs of Arduino's own header.
const ARDUINO_HEADER: &str = "#include <stdint.h>\n\
    struct Port { void begin(long); template <typename T> void print(T); template <typename T> void println(T); };\n\
    extern Port Serial;\nenum { A0, A1, A2 };\nint analogRead(int);\nvoid delay(unsigned long);\n";

/// Compiles the sketch with a header in place of Arduino's.
fn sketch(project: &Project, folder: &Path) -> Result<()> {
    let directory = fresh(project, "capi-arduino")?;
    let header = directory.join("Arduino.h");
    write(&header, ARDUINO_HEADER.as_bytes())?;
    let library = folder.join("arduino/fastmmd");
    project
        .tool("g++")
        .args(["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(library.join("src"))
        .arg("-include")
        .arg(&header)
        .arg(library.join("examples/Drift/Drift.ino"))
        .run()
}

/// An empty folder.
fn fresh(project: &Project, name: &str) -> Result<PathBuf> {
    let directory = project.scratch(name);
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    Ok(directory)
}
