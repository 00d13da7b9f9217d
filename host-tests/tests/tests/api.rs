//! Compares the public interface of the core with a recorded listing, `api.txt`.
//!
//! After an intended change, `UPDATE_API=1 cargo test -p fastmmd-tests api::` writes the
//! listing again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{ImplItem, Item, TraitItem, Visibility};

/// What was found in the source files.
#[derive(Default)]
struct Found {
    lines: BTreeSet<String>,
    /// Names of public types.
    types: BTreeSet<String>,
    /// Names of traits that are not public.
    hidden_traits: BTreeSet<String>,
    /// Traits that types implement: the names of both, and the line for them.
    impls: Vec<(String, String, String)>,
    /// Traits that macros implement for what they are called with: the names of the macro and of
    /// the trait, and the line for them.
    macro_impls: Vec<(String, String, String)>,
    /// Macros that give public functions.
    macros: BTreeSet<String>,
    /// Calls of macros: the name, and the line for what it is called with.
    calls: Vec<(String, String)>,
}

impl Found {
    fn insert(&mut self, line: String) {
        self.lines.insert(line);
    }
}

/// All public items below a folder of source files, and the traits that public types implement.
fn listing(source: &Path) -> BTreeSet<String> {
    let mut found = Found::default();
    module(&source.join("lib.rs"), source, "", &mut found);
    let Found { mut lines, types, hidden_traits, impls, macro_impls, mut macros, calls } = found;
    let public = impls.into_iter().filter(|(implemented, owner, _)| {
        types.contains(owner) && !hidden_traits.contains(implemented)
    });
    lines.extend(public.map(|(_, _, line)| line));
    for (name, implemented, line) in macro_impls {
        if !hidden_traits.contains(&implemented) {
            lines.insert(line);
            macros.insert(name);
        }
    }
    lines.extend(calls.into_iter().filter(|(name, _)| macros.contains(name)).map(|(_, line)| line));
    lines
}

/// The fields that `settings!` gives every struct: those of the struct in its definition.
fn common_fields(items: &[Item]) -> Vec<String> {
    let definition = items.iter().find_map(|item| match item {
        Item::Macro(item) if item.ident.as_ref().is_some_and(|name| name == "settings") => {
            item.mac.tokens.clone().into_iter().filter_map(braced).last()
        }
        _ => None,
    });
    let tokens: Vec<TokenTree> = definition.into_iter().flatten().collect();
    let is = |token: &TokenTree, text: &str| token.to_string() == text;
    let start = tokens.windows(2).position(|pair| is(&pair[0], "pub") && is(&pair[1], "struct"));
    let body = start.and_then(|start| tokens.into_iter().skip(start).find_map(braced));
    body.map_or_else(Vec::new, fields)
}

/// What is in braces.
fn braced(token: TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

/// Notes that a type implements a trait.
fn implements(implemented: &syn::Path, owner: &syn::Type, path: &str, found: &mut Found) {
    let syn::Type::Path(owner) = owner else { return };
    let last = |path: &syn::Path| path.segments.last().map(|segment| segment.ident.to_string());
    if let (Some(name), Some(of)) = (last(implemented), last(&owner.path)) {
        let line = format!("{path}{}: impl {}", line(owner), line(implemented));
        found.impls.push((name, of, line));
    }
}

/// Lists what is derived.
fn derived(attributes: &[syn::Attribute], name: &str, path: &str, found: &mut Found) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let syn::Meta::List(list) = &attribute.meta else { continue };
        found.insert(format!("{path}{name}: derive({})", line(&list.tokens)));
    }
}

/// The items of the module in `file`, whose submodules are in `folder`.
fn module(file: &Path, folder: &Path, path: &str, found: &mut Found) {
    let text = fs::read_to_string(file).expect("a source file of the core");
    let parsed = syn::parse_file(&text).expect("the core's source can be parsed");
    let common = common_fields(&parsed.items);
    for item in &parsed.items {
        if is_test(&attributes(item)) {
            continue;
        }
        if let Item::Mod(inner) = item
            && inner.content.is_none()
        {
            let name = inner.ident.to_string();
            let public = is_public(&inner.vis);
            let inside = if public { format!("{path}{name}::") } else { path.to_owned() };
            if public {
                found.insert(format!("mod {path}{name}"));
            }
            let own = folder.join(&name);
            let (file, folder): (PathBuf, PathBuf) = if own.join("mod.rs").exists() {
                (own.join("mod.rs"), own)
            } else {
                (folder.join(format!("{name}.rs")), own)
            };
            module(&file, &folder, &inside, found);
        } else {
            list(item, path, found);
            if let Item::Macro(item) = item
                && item.mac.path.is_ident("settings")
            {
                let words: Vec<TokenTree> = item.mac.tokens.clone().into_iter().collect();
                let place = words.iter().position(|word| word.to_string() == "struct");
                let name = &words[place.expect("settings! declares a struct") + 1];
                common.iter().for_each(|field| found.insert(format!("{path}{name}.{field}")));
            }
        }
    }
}

fn attributes(item: &Item) -> Vec<syn::Attribute> {
    match item {
        Item::Mod(item) => item.attrs.clone(),
        Item::Fn(item) => item.attrs.clone(),
        Item::Impl(item) => item.attrs.clone(),
        _ => Vec::new(),
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        text.contains("cfg") && text.contains("test")
    })
}

fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().contains("hidden"))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Tokens as one line, with the usual spacing.
fn line(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (spaced, close) in [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" , ", ", "),
        (" ,", ","),
        (" : ", ": "),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("< ", "<"),
        (" ;", ";"),
        ("' ", "'"),
        (":: ", "::"),
        (" ::", "::"),
        ("> ->", "> ->"),
    ] {
        text = text.replace(spaced, close);
    }
    text
}

fn list(item: &Item, path: &str, found: &mut Found) {
    match item {
        Item::Const(item) if is_public(&item.vis) => {
            let (name, kind) = (&item.ident, line(&item.ty));
            found.insert(format!("const {path}{name}: {kind}"));
        }
        Item::Fn(item) if is_public(&item.vis) => {
            found.insert(format!("{path}{}", line(&item.sig)));
        }
        Item::Type(item) if is_public(&item.vis) => {
            let (generics, ty) = (&item.generics, &item.ty);
            found.types.insert(item.ident.to_string());
            let (name, rest) = (&item.ident, line(&quote!(#generics = #ty)));
            found.insert(format!("type {path}{name}{rest}"));
        }
        Item::Use(item) if is_public(&item.vis) => {
            found.insert(format!("{path}{}", line(&item.tree).replace("self::", "")));
        }
        Item::Struct(item) if is_public(&item.vis) => {
            let (name, generics) = (&item.ident, line(&item.generics));
            found.insert(format!("struct {path}{name}{generics}"));
            found.types.insert(name.to_string());
            derived(&item.attrs, &name.to_string(), path, found);
            for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
                let label = field.ident.as_ref().map_or("0".to_owned(), ToString::to_string);
                found.insert(format!("{path}{name}.{label}: {}", line(&field.ty)));
            }
        }
        Item::Enum(item) if is_public(&item.vis) => {
            let (name, generics) = (&item.ident, line(&item.generics));
            found.insert(format!("enum {path}{name}{generics}"));
            found.types.insert(name.to_string());
            derived(&item.attrs, &name.to_string(), path, found);
            for variant in &item.variants {
                let mut variant = variant.clone();
                variant.attrs.clear();
                for field in &mut variant.fields {
                    field.attrs.clear();
                }
                found.insert(format!("{path}{name}::{}", line(&variant)));
            }
        }
        Item::Trait(item) if is_public(&item.vis) => {
            let (name, bounds) = (&item.ident, line(&item.supertraits));
            found.insert(format!("trait {path}{name}: {bounds}"));
            for member in &item.items {
                list_member(member, &format!("{path}{name}"), found);
            }
        }
        Item::Trait(item) => {
            found.hidden_traits.insert(item.ident.to_string());
        }
        Item::Impl(syn::ItemImpl { trait_: Some((_, implemented, _)), self_ty, .. }) => {
            implements(implemented, self_ty, path, found);
        }
        Item::Impl(item) => {
            let owner = line(&item.self_ty);
            for member in &item.items {
                match member {
                    ImplItem::Fn(member) if is_public(&member.vis) && !is_hidden(&member.attrs) => {
                        found.insert(format!("{path}{owner}: {}", line(&member.sig)));
                    }
                    ImplItem::Const(member) if is_public(&member.vis) => {
                        let (name, ty) = (&member.ident, line(&member.ty));
                        found.insert(format!("{path}{owner}: const {name}: {ty}"));
                    }
                    _ => {}
                }
            }
        }
        Item::Macro(item) => list_macro(item, path, found),
        _ => {}
    }
}

fn list_member(member: &TraitItem, owner: &str, found: &mut Found) {
    match member {
        TraitItem::Fn(member) if !is_hidden(&member.attrs) => {
            found.insert(format!("{owner}: {}", line(&member.sig)));
        }
        TraitItem::Const(member) => {
            found.insert(format!("{owner}: const {}: {}", member.ident, line(&member.ty)));
        }
        TraitItem::Type(member) if !is_hidden(&member.attrs) => {
            found.insert(format!("{owner}: type {}", member.ident));
        }
        _ => {}
    }
}

/// Macros of the core: exported ones by name; struct declarations inside others.
fn list_macro(item: &syn::ItemMacro, path: &str, found: &mut Found) {
    let macro_name = item.mac.path.to_token_stream().to_string();
    match macro_name.as_str() {
        "macro_rules" => {
            let exported = item.attrs.iter().any(|a| a.path().is_ident("macro_export"))
                && !is_hidden(&item.attrs);
            let Some(name) = &item.ident else { return };
            if exported {
                found.insert(format!("macro {name}!"));
            }
            members(&item.mac.tokens, path, &name.to_string(), found);
        }
        "codes_of_patterns" => {
            if let Some(TokenTree::Ident(name)) = item.mac.tokens.clone().into_iter().next() {
                found.insert(format!("{path}{name}: NAMES, code, name"));
            }
        }
        "codes" => {
            if let Some(TokenTree::Ident(name)) = item.mac.tokens.clone().into_iter().next() {
                found.insert(format!("{path}{name}: ALL, code, from_code, from_name, name"));
            }
        }
        "state" | "settings" | "lengths" | "plain" | "saved_legs" => {
            declared(&item.mac.tokens, path, found);
        }
        name => {
            let call = format!("{path}{name}! for {}", line(&item.mac.tokens));
            found.calls.push((name.to_owned(), call));
        }
    }
}

/// Public functions and traits that a macro of the core gives to types, by the name of the macro.
fn members(tokens: &TokenStream, path: &str, name: &str, found: &mut Found) {
    let owner = format!("{path}{name}!");
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => members(&group.stream(), path, name, found),
            TokenTree::Ident(word) if word == "impl" => {
                let rest = tokens.iter().skip(index + 1).take_while(|token| !is_body(token));
                let head: Vec<TokenTree> = rest.cloned().collect();
                if let Some(implemented) = implemented(&head) {
                    let line = format!("{owner}: impl {}", line(&TokenStream::from_iter(head)));
                    found.macro_impls.push((name.to_owned(), implemented, line));
                }
            }
            TokenTree::Ident(word) if word == "pub" => {
                let rest = tokens.iter().skip(index + 1).take_while(|token| !is_body(token));
                let head: Vec<TokenTree> = rest.cloned().collect();
                let is_word = |token: Option<&TokenTree>, text: &str| matches!(token, Some(TokenTree::Ident(word)) if word == text);
                if is_word(head.first(), "fn") || is_word(head.get(1), "fn") {
                    let head: TokenStream = head.into_iter().collect();
                    found.insert(format!("{owner}: {}", line(&head)));
                    found.macros.insert(name.to_owned());
                }
            }
            _ => {}
        }
    }
}

/// The name of the trait, of what stands between `impl` and a body, if it is one of a trait.
fn implemented(head: &[TokenTree]) -> Option<String> {
    let mut depth = 0_i32;
    let mut last = None;
    for token in head {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
            TokenTree::Ident(word) if depth == 0 && word == "for" => return last,
            TokenTree::Ident(word) if depth == 0 => last = Some(word.to_string()),
            _ => {}
        }
    }
    None
}

/// Whether a token may be part of an attribute.
fn is_attribute(token: &&TokenTree) -> bool {
    match token {
        TokenTree::Punct(punct) => punct.as_char() == '#',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Bracket,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    }
}

/// Structs, what they derive and their public fields in the tokens of a declaration.
fn declared(tokens: &TokenStream, path: &str, found: &mut Found) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let word = |index: usize, text: &str| matches!(tokens.get(index), Some(TokenTree::Ident(word)) if word == text);
    for index in 0..tokens.len() {
        if !(word(index, "pub") && word(index + 1, "struct")) {
            continue;
        }
        let body = tokens.iter().skip(index).position(|token| {
            matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        });
        let Some(body) = body.map(|place| place + index) else { continue };
        // Without what defaults follow from, which stands in parentheses.
        let is_type = |token: &&TokenTree| !matches!(token, TokenTree::Group(_));
        let head: TokenStream = tokens[index + 2..body].iter().filter(is_type).cloned().collect();
        let name = line(&head);
        found.insert(format!("struct {path}{name}"));
        found.types.insert(tokens[index + 2].to_string());
        // Attributes of declarations stand before their first word.
        for attribute in tokens[..index].iter().rev().take_while(is_attribute) {
            let TokenTree::Group(group) = attribute else { continue };
            let mut inside = group.stream().into_iter();
            if inside.next().is_some_and(|word| word.to_string() == "derive")
                && let Some(TokenTree::Group(list)) = inside.next()
            {
                let name = &tokens[index + 2];
                found.insert(format!("{path}{name}: derive({})", line(&list.stream())));
            }
        }
        if let TokenTree::Group(group) = &tokens[body] {
            for field in fields(group.stream()) {
                found.insert(format!("{path}{}.{field}", tokens[index + 2]));
            }
        }
    }
}

/// `name: type` of each public field of a declaration, without what follows the type.
fn fields(body: TokenStream) -> Vec<String> {
    let mut all = Vec::new();
    let mut field: Vec<TokenTree> = Vec::new();
    let (mut depth, mut typed) = (0_i32, false);
    for token in body {
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                // Not that of `=> since`.
                '>' if !typed => depth -= 1,
                '=' if depth == 0 => typed = true,
                ',' if depth == 0 => {
                    all.push(std::mem::take(&mut field));
                    typed = false;
                    continue;
                }
                _ => {}
            }
        }
        if !typed {
            field.push(token);
        }
    }
    all.push(field);
    let public = |field: Vec<TokenTree>| {
        let place = field
            .iter()
            .position(|token| matches!(token, TokenTree::Ident(word) if word == "pub"))?;
        let restricted = matches!(field.get(place + 1), Some(TokenTree::Group(_)));
        let rest: TokenStream = field.into_iter().skip(place + 1).collect();
        (!restricted).then(|| line(&rest))
    };
    all.into_iter().filter_map(public).collect()
}

#[test]
fn the_public_interface_is_the_one_that_is_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = root.join("api.txt");
    let found: Vec<String> = listing(&root.join("../../src")).into_iter().collect();
    if std::env::var_os("UPDATE_API").is_some() {
        fs::write(&kept, found.join("\n") + "\n").expect("the listing can be written");
        return;
    }
    let text = fs::read_to_string(&kept).expect("api.txt is beside the tests");
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) =
        (text.lines().collect(), found.iter().map(String::as_str).collect());
    let gone: Vec<_> = old.difference(&new).collect();
    let added: Vec<_> = new.difference(&old).collect();
    assert!(
        gone.is_empty() && added.is_empty(),
        "the public interface has changed; gone: {gone:#?}, added: {added:#?}"
    );
}

#[test]
fn the_listing_sees_every_kind_of_item() {
    let found = listing(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src"));
    for part in [
        "macro checked!",
        "trait features::FeatureMap",
        "features::Fourier<D, L>: const fn gaussian(seed: u64) -> Self",
        "monitor::Config.learning_rows: u32",
        "monitor::Config.legs: PhantomData<L>",
        "monitor::settings!: const fn rows",
        "embedding::families!: const fn family",
        "embedding::families! for [const D: usize, const L: usize, B: SinCos] Fourier<D, L, B>",
        "dynamic::lengths!: impl Length for $ name",
        "error::Error: impl fmt::Display",
        "error::Error: derive(Debug, Clone",
        "monitor::Cyclic<N>: impl Legs",
        "enum error::Error",
        "error::Error::Empty",
        "const condition::MAX_READING: f32",
        "monitor::Alarm: derive(Debug, Clone",
        "monitor::Alarm.window: u32",
        "monitor::SavedLegs.bins: u32",
        "monitor::Verdict: NAMES, code, name",
        "monitor::Stage: ALL, code, from_code, from_name, name",
    ] {
        assert!(found.iter().any(|line| line.starts_with(part)), "{part} in {found:#?}");
    }
}
