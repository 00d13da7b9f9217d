//! Prints `fastmmd.h`: constants, structures and functions by cbindgen, shapes by the library's own
//! table, which cbindgen cannot see.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, ExportConfig, Language, SortKey, Style};
use fastmmd_capi::FASTMMD_VERSION;
use fastmmd_capi::api::FASTMMD_ALIGN;
use fastmmd_capi::shapes::SHAPES;

const TOP: &str = "\
/* fastmmd: drift detection on a microcontroller, in constant memory.
 *
 * Made by `cargo xtask capi --overwrite` from the sources of the library. MIT or Apache-2.0.
 *
 * Results are int32_t: 0 or more for an answer, less than 0 for an error. A refused call leaves the
 * detector as it was. Nothing is allocated.
 *
 * Every pointer is null, which is refused where it is not allowed, or points to memory of its type
 * and of the stated length. A detector is used by one call at a time: with several threads, or from
 * an interrupt, guard it. Its memory may not be moved while a call uses it, nor be written by others.
 */
#ifndef FASTMMD_H
#define FASTMMD_H";

/// The names of structures in C.
const NAMES: [(&str, &str); 6] = [
    ("Alarm", "fastmmd_alarm"),
    ("Handle", "fastmmd_detector"),
    ("Quality", "fastmmd_quality"),
    ("Settings", "fastmmd_settings"),
    ("Shape", "fastmmd_shape"),
    ("Status", "fastmmd_status"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let names = NAMES.map(|(rust, c)| (rust.to_owned(), c.to_owned()));
    let config = Config {
        language: Language::C,
        header: Some(TOP.to_owned()),
        trailer: Some(shapes()?),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
        cpp_compat: true,
        style: Style::Both,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::C99,
        line_length: 100,
        export: ExportConfig { rename: HashMap::from(names), ..ExportConfig::default() },
        ..Config::default()
    };
    let config = Config {
        function: cbindgen::FunctionConfig { sort_by: Some(SortKey::None), ..config.function },
        constant: cbindgen::ConstantConfig { sort_by: Some(SortKey::None), ..config.constant },
        ..config
    };
    let mut builder = Builder::new().with_config(config);
    for source in ["codes", "values", "slot", "api"] {
        builder = builder.with_src(sources.join(format!("{source}.rs")));
    }
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    print!("{}", for_c(&String::from_utf8(header)?));
    Ok(())
}

/// Without what only Rust's documentation needs, and with parentheses around negative numbers.
fn for_c(header: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = header.lines();
    while let Some(line) = rest.next() {
        if line.trim() == "// # Safety" {
            // With the empty line before it, and its text.
            lines.pop();
            rest.next();
            continue;
        }
        let number = line.strip_prefix("#define ").and_then(|line| line.split_once(" -"));
        lines.push(match number {
            Some((name, number)) => format!("#define {name} (-{number})"),
            None => line.to_owned(),
        });
    }
    lines.join("\n") + "\n"
}

/// Shapes, and the memory that each needs. Sizes are those of a 64-bit processor; others need a few
/// bytes less.
fn shapes() -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(
        text,
        "/* Shapes: the number type of the readings, and their channels. A program links those"
    )?;
    writeln!(text, " * that it names. */\n")?;
    writeln!(
        text,
        "/* Elements of a uint64_t array of at least so many bytes: static, it is memory for a"
    )?;
    writeln!(text, " * detector, aligned. */")?;
    writeln!(
        text,
        "#define FASTMMD_WORDS(bytes) (((bytes) + {}) / {FASTMMD_ALIGN})",
        FASTMMD_ALIGN - 1
    )?;
    writeln!(text, "\n#define FASTMMD_VERSION \"{FASTMMD_VERSION}\"")?;
    writeln!(text, "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif")?;
    for (name, shape) in SHAPES {
        let upper = name.to_uppercase();
        let (numbers, channels) = (shape.numbers(), shape.channels);
        let cycle = if name.ends_with("_cycle") { ", with a cycle" } else { "" };
        writeln!(text, "\n/* Rows of {channels} {numbers}{cycle}. */")?;
        writeln!(text, "extern const struct fastmmd_shape {name};")?;
        writeln!(text, "#define {upper}_BYTES {}", shape.bytes)?;
        writeln!(text, "#define {upper}_SAVED_BYTES {}", shape.saved_bytes)?;
    }
    writeln!(text, "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* FASTMMD_H */")?;
    Ok(text)
}
