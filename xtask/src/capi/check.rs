//! Tests of the library with C compilers and the emulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::build::{self, Library};
use super::{HEADER, TARGETS, cargo};
use crate::outcome::Failures;
use crate::project::Project;
use crate::{qemu, size, snapshot};

/// A board on which the example runs.
struct Board {
    name: &'static str,
    machine: &'static str,
    target: &'static str,
    flags: &'static [&'static str],
    /// The numbers of its rows: `f32` or `i16`.
    numbers: &'static str,
    /// Most flash that the example may take, in kilobytes, as capi/README.md says.
    flash: u64,
}

/// With a floating-point unit in `f32`, without in integers.
const BOARDS: [Board; 3] = [
    Board {
        name: "Cortex-M4F",
        machine: "mps2-an386",
        target: "thumbv7em-none-eabihf",
        flags: &["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
        numbers: "f32",
        flash: 62,
    },
    Board {
        name: "Cortex-M3",
        machine: "mps2-an385",
        target: "thumbv7m-none-eabi",
        flags: &["-mcpu=cortex-m3"],
        numbers: "i16",
        flash: 68,
    },
    Board {
        name: "ARMv6-M code",
        machine: "mps2-an385",
        target: "thumbv6m-none-eabi",
        flags: &["-mcpu=cortex-m0"],
        numbers: "i16",
        flash: 74,
    },
];

const STRICT: [&str; 5] = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Of 200,000 rows, three programs at once: ten times what they take on a machine with nothing else to do.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// The call from C may take so many instructions more than that in Rust, in percent.
const MOST_MORE: u64 = 3;

pub(super) fn run(project: &Project, libraries: &[Library], failures: &mut Failures) -> Result<()> {
    let directory = project.scratch("capi-check");
    fs::create_dir_all(&directory)?;
    failures.note("the header compiles by itself, as C99 and C++", compiles(project));
    failures.note("the README's example compiles", example(project));
    let calls = cargo(project, "test").args(["--quiet", "--package=fastmmd-capi"]).run();
    failures.note("the functions called from Rust", calls);
    let host = build::host(project)?;
    failures.note("misuse is refused on the host", misuse(project, find(libraries, &host)?));
    for target in TARGETS {
        let name = format!("no panic in the library for {target}");
        failures.note(&name, is_free_of_panics(project, find(libraries, target)?));
    }
    failures.note("an injected panic is noticed", control(project));
    same_bits(project, libraries, failures)?;
    for board in &BOARDS {
        let name = format!("{}: a call from C costs at most {MOST_MORE} % more", board.name);
        failures.note(&name, cost(project, find(libraries, board.target)?, board));
    }
    Ok(())
}

fn find<'l>(libraries: &'l [Library], target: &str) -> Result<&'l Library> {
    let found = libraries.iter().find(|library| library.target == target);
    found.with_context(|| format!("no library for {target}"))
}

fn compiles(project: &Project) -> Result<()> {
    let header = project.path(HEADER);
    for (compiler, options) in [
        ("gcc", &["-x", "c", "-std=c99"] as &[_]),
        ("arm-none-eabi-gcc", &["-x", "c", "-std=c99", "-ffreestanding"]),
        ("g++", &["-x", "c++", "-std=c++11"]),
    ] {
        let compiler = project.tool(compiler).args(options);
        let compiler = compiler.args(["-Wall", "-Wextra", "-Werror", "-pedantic"]);
        compiler.args(["-fsyntax-only"]).arg(&header).run()?;
    }
    Ok(())
}

/// The first program in C of a text.
fn program(text: &str) -> Option<&str> {
    text.split_once("\n```c\n")?.1.split("\n```").next()
}

fn example(project: &Project) -> Result<()> {
    let readme = project.read("capi/README.md")?;
    let file = project.scratch("capi-check").join("readme.c");
    fs::write(&file, format!("{}\n", program(&readme).context("no program")?))?;
    project.tool("gcc").args(STRICT).args(["-fsyntax-only", "-Icapi/include"]).arg(&file).run()
}

/// Runs the wrong calls, also under the sanitisers.
fn misuse(project: &Project, library: &Library) -> Result<()> {
    let sanitised: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for (name, options) in [("misuse", &[] as &[_]), ("misuse-sanitised", sanitised)] {
        let program = project.scratch("capi-check").join(name);
        project
            .tool("gcc")
            .args(STRICT)
            .args(["-g", "-O1"])
            .args(options)
            .args(["-Icapi/include", "capi/example/misuse.c"])
            .arg(&library.file)
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program)
            .run()?;
        project.program(&program, name).run()?;
    }
    Ok(())
}

/// Links everything that the header declares, and nothing else, and looks for what panics call.
fn is_free_of_panics(project: &Project, library: &Library) -> Result<()> {
    let header = project.read(HEADER)?;
    let panics = panics(project, library, &declared(&header))?;
    if panics.is_empty() { Ok(()) } else { bail!("it has {}", panics.join(", ")) }
}

fn control(project: &Project) -> Result<()> {
    let library = build::control(project, BOARDS[0].target)?;
    if panics(project, &library, &["fastmmd_control"])?.is_empty() {
        bail!("none was found, so the check is void");
    }
    Ok(())
}

/// The functions and shapes of the header.
fn declared(header: &str) -> Vec<&str> {
    let names =
        header.lines().filter(|line| !line.starts_with(['#', ' ', '/', '}'])).filter_map(|line| {
            let end = line.find(['(', ';'])?;
            let name = line.get(..end)?.rsplit([' ', '*']).next()?;
            (name.starts_with("fastmmd_") && !line.starts_with("typedef")).then_some(name)
        });
    names.collect()
}

/// Symbols of a program of these functions that belong to panics.
fn panics(project: &Project, library: &Library, names: &[&str]) -> Result<Vec<String>> {
    let program = project.scratch("capi-check").join(format!("all-{}.elf", library.target));
    let linker = project.llvm_tool("rust-lld")?.args(["-flavor", "gnu", "--gc-sections"]);
    let linker = linker.quiet_args(names.iter().map(|name| format!("--undefined={name}")));
    let first = names.first().context("nothing is declared")?;
    linker.arg(format!("--entry={first}")).arg(&library.file).arg("-o").arg(&program).run()?;
    let symbols = project.llvm_tool("llvm-nm")?.arg("--demangle").arg(&program).output()?;
    for name in names {
        if !symbols.lines().any(|line| line.ends_with(&format!(" {name}"))) {
            bail!("{name} is not in the library");
        }
    }
    let panics = |line: &&str| line.contains("panic") || line.contains("rust_begin_unwind");
    Ok(symbols.lines().filter(panics).map(str::to_owned).collect())
}

/// Compiles and links a program of the example for a board.
fn compile(project: &Project, library: &Library, board: &Board, name: &str) -> Result<PathBuf> {
    let program = project.scratch("capi-check").join(format!("{name}-{}.elf", board.target));
    let integers = (board.numbers == "i16").then_some("-DINTEGERS");
    project
        .tool("arm-none-eabi-gcc")
        .args(STRICT)
        .args(["-Os", "-mthumb"])
        .args(board.flags)
        .args(integers)
        .quiet_args(["-ffreestanding", "-ffunction-sections", "-fdata-sections"])
        .quiet_args(["-nostdlib", "-Wl,--gc-sections,-z,noexecstack,--fatal-warnings"])
        .args(["-Icapi/include", "-Tcapi/example/board.ld", "capi/example/board.c"])
        .arg(format!("capi/example/{name}.c"))
        .arg(&library.file)
        .args(["-lgcc", "-o"])
        .arg(&program)
        .run()?;
    Ok(program)
}

/// What the detector in Rust reports on the example's rows, on the host.
pub(crate) fn in_rust(project: &Project, numbers: &str) -> Result<String> {
    let build = cargo(project, "build").args(["--quiet", "--release"]);
    build.args(["--package=fastmmd-capi-twin", "--bin=twin"]).run()?;
    let twin = project.scratch("release").join("twin");
    project.program(&twin, "twin").arg(numbers).output()
}

/// The example on each board, compared with the detector in Rust on the host.
fn same_bits(project: &Project, libraries: &[Library], failures: &mut Failures) -> Result<()> {
    let (floats, integers) = (in_rust(project, "f32")?, in_rust(project, "i16")?);
    print!("{}", snapshot::indented(&floats));
    let mut programs = Vec::new();
    for board in &BOARDS {
        let library = find(libraries, board.target)?;
        programs.push((board, compile(project, library, board, "main")?));
    }
    // At once: each keeps one processor busy.
    let printed: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> = programs
            .iter()
            .map(|(board, program)| {
                scope.spawn(|| qemu::run_for(board.machine, program, &[], TIME_LIMIT))
            })
            .collect();
        runs.into_iter().map(|run| run.join().expect("it does not panic")).collect()
    });
    for ((board, program), printed) in programs.iter().zip(printed) {
        let expected = if board.numbers == "f32" { &floats } else { &integers };
        let result = printed.and_then(|printed| snapshot::compare(expected, &printed));
        let name = format!("{}: C and Rust agree, {}", board.name, board.numbers);
        failures.note(&name, result);
        let name = format!("{}: the example takes at most {} KB of flash", board.name, board.flash);
        failures.note(&name, fits(project, program, board.flash * 1024));
    }
    let differs = snapshot::compare(&floats, &integers).is_err() && floats.contains("\ndigest ");
    let control = if differs { Ok(()) } else { Err(anyhow::anyhow!("all reports agree")) };
    failures.note("control: other numbers give another report", control);
    Ok(())
}

fn fits(project: &Project, program: &Path, most: u64) -> Result<()> {
    let [flash] = size::section_bytes(project, program, [&[".text", ".ARM.exidx", ".data"]])?;
    println!("    {flash} bytes of flash");
    if flash > most || flash == 0 { bail!("{flash} bytes") } else { Ok(()) }
}

/// Counts the instructions of rows pushed by the example in C, and in Rust by a program that uses the
/// same calls.
fn cost(project: &Project, library: &Library, board: &Board) -> Result<()> {
    let in_c = compile(project, library, board, "cost")?;
    cargo(project, "build")
        .args(["--quiet", "--release", "--package=fastmmd-capi-twin", "--bin=cost"])
        .arg(format!("--target={}", board.target))
        .run()?;
    let in_rust = project.scratch(board.target).join("release").join("cost");
    let count = |program: &Path| qemu::run_counting(board.machine, program);
    let (in_c, in_rust) = (ticks(&count(&in_c)?)?, ticks(&count(&in_rust)?)?);
    for (what, c, rust) in [("learning", in_c[0], in_rust[0]), ("monitoring", in_c[1], in_rust[1])]
    {
        // 1.6 ticks an instruction.
        println!(
            "    {}, {what}: {} instructions a row from C, {} in Rust",
            board.name,
            c * 5 / 8,
            rust * 5 / 8
        );
        within(c, rust)?;
    }
    Ok(())
}

/// The two numbers that a program of costs prints.
fn ticks(printed: &str) -> Result<[u64; 2]> {
    let of = |name: &str| -> Result<u64> {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        Ok(line.with_context(|| format!("no {name} in {printed}"))?.trim().parse()?)
    };
    Ok([of("learning")?, of("monitoring")?])
}

fn within(c: u64, rust: u64) -> Result<()> {
    if c * 100 > rust * (100 + MOST_MORE) || rust == 0 {
        bail!("{c} ticks from C, {rust} in Rust");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_percent_more_are_allowed_and_no_more() {
        assert!(within(10_300, 10_000).is_ok() && within(9_000, 10_000).is_ok());
        assert!(within(10_301, 10_000).is_err() && within(0, 0).is_err());
        assert_eq!(ticks("learning 7\nmonitoring 5\n").unwrap(), [7, 5]);
        assert!(ticks("learning 7\n").is_err());
    }

    /// The README's figures are those of the header and of the checks here.
    #[test]
    fn the_readme_has_the_figures() {
        let readme = include_str!("../../../capi/README.md");
        let header = include_str!("../../../capi/include/fastmmd.h");
        let of = |name: &str| {
            let name = format!("#define {name} ");
            header.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or_default()
        };
        let shapes = declared(header)
            .into_iter()
            .filter(|name| name.starts_with("fastmmd_f32_") || name.starts_with("fastmmd_i16_"));
        for shape in shapes {
            let upper = shape.to_uppercase();
            let bytes = (of(&format!("{upper}_BYTES")), of(&format!("{upper}_SAVED_BYTES")));
            let end = format!("| {} | {} |", bytes.0, bytes.1);
            let line = readme.lines().find(|line| line.starts_with(&format!("| `{shape}` |")));
            assert!(line.is_some_and(|line| line.ends_with(&end)), "{shape}: {line:?}, not {end}");
        }
        let text = readme.split_whitespace().collect::<Vec<_>>().join(" ");
        let [a, b, c] = BOARDS.map(|board| board.flash);
        assert!(text.contains(&format!(
            "at most {a} KB of flash on a Cortex-M4F, {b} KB on a Cortex-M3 and {c} KB as ARMv6-M"
        )));
        assert!(text.contains(&format!("at most {MOST_MORE} % more instructions")));
    }

    #[test]
    fn the_versions_are_one() {
        let version = env!("CARGO_PKG_VERSION");
        let header = include_str!("../../../capi/include/fastmmd.h");
        assert!(header.contains(&format!("#define FASTMMD_VERSION \"{version}\"\n")));
    }

    #[test]
    fn what_the_header_declares_is_found() {
        let header = "// fastmmd_x(\n#define FASTMMD_Y fastmmd_y;\ntypedef struct fastmmd_z fastmmd_z;\n} fastmmd_w;\n\
                      const char *fastmmd_version(void);\nint32_t fastmmd_push(struct fastmmd_z *z,\n\
                      \x20                    const float *row);\nextern const struct fastmmd_shape fastmmd_f32_1;\n";
        assert_eq!(declared(header), ["fastmmd_version", "fastmmd_push", "fastmmd_f32_1"]);
        let all = declared(include_str!("../../../capi/include/fastmmd.h"));
        assert!(all.contains(&"fastmmd_create") && all.contains(&"fastmmd_i16_6"), "{all:?}");
    }
}
