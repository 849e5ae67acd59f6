//! Text of a description file → described functions.

use super::{ApiError, Function, Probe};
use crate::ctype::CType;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use syn::spanned::Spanned;

/// Deepest nesting of brackets accepted.
const MAX_DEPTH: usize = 24;
/// Most tokens between two separators of one bracket level; bounds the recursion of the parser.
const MAX_RUN: usize = 160;
/// Most types resolved for one file.
const MAX_TYPES: usize = 200_000;

pub(super) fn parse(file: &str, text: &str) -> Result<BTreeMap<String, Function>, ApiError> {
    parse_text(file, text).map_err(|error| {
        let start = error.span().start();
        ApiError::Invalid {
            file: file.to_owned(),
            line: start.line,
            column: start.column + 1,
            message: error.to_string(),
        }
    })
}

fn parse_text(file: &str, text: &str) -> syn::Result<BTreeMap<String, Function>> {
    let tokens = TokenStream::from_str(text).map_err(syn::Error::from)?;
    check_depth(&tokens)?;
    let tree: syn::File = syn::parse2(tokens)?;
    let scope = Scope::of(&tree.items);
    let mut functions = BTreeMap::new();
    let mut spans = BTreeMap::new();
    for item in &tree.items {
        match item {
            syn::Item::ForeignMod(block) => {
                check_block(block)?;
                for item in &block.items {
                    let (span, function) = foreign_item(file, &scope, item)?;
                    if let Some(first) = spans.insert(function.symbol.clone(), span) {
                        let message = format!(
                            "`{}` is described twice in this file, first in line {}",
                            function.symbol,
                            first.start().line
                        );
                        return Err(syn::Error::new(span, message));
                    }
                    functions.insert(function.symbol.clone(), function);
                }
            }
            syn::Item::Use(_) | syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Type(_) => {}
            other => {
                let message = "only `extern \"C\"` blocks, `use`, `type` and opaque `struct` items belong in a description";
                return Err(syn::Error::new(other.span(), message));
            }
        }
    }
    for function in functions.values() {
        if let Some(with) = &function.with
            && functions
                .get(with)
                .is_none_or(|other: &Function| other.variadic)
        {
            let span = spans.get(&function.symbol).copied();
            return Err(syn::Error::new(
                span.unwrap_or_else(Span::call_site),
                format!(
                    "`{with}`, which its probe gets too, is not described in this file, or has variable arguments"
                ),
            ));
        }
    }
    Ok(functions)
}

/// Refuses text that would make the recursive parser run out of stack.
fn check_depth(tokens: &TokenStream) -> syn::Result<()> {
    let mut pending = vec![(tokens.clone(), 0usize)];
    while let Some((stream, depth)) = pending.pop() {
        let mut run = 0usize;
        let mut attribute = false;
        for token in stream {
            let too_deep = depth >= MAX_DEPTH && matches!(token, TokenTree::Group(_));
            run += 1;
            if too_deep || run > MAX_RUN {
                return Err(syn::Error::new(
                    token.span(),
                    "nested too deeply for a description",
                ));
            }
            match &token {
                TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => run = 0,
                TokenTree::Punct(punct) if punct.as_char() == '#' => attribute = true,
                TokenTree::Punct(punct) if attribute && punct.as_char() == '!' => {}
                TokenTree::Group(group) => {
                    pending.push((group.stream(), depth + 1));
                    if attribute || group.delimiter() == Delimiter::Brace {
                        run = 0;
                    }
                    attribute = false;
                }
                _ => attribute = false,
            }
        }
    }
    Ok(())
}

/// Types declared in the file.
struct Scope {
    opaque: BTreeSet<String>,
    aliases: BTreeMap<String, syn::Type>,
    /// Types that may still be resolved; aliases of aliases could otherwise grow without bound.
    budget: Cell<usize>,
}

impl Scope {
    fn of(items: &[syn::Item]) -> Self {
        let mut scope = Self {
            opaque: BTreeSet::new(),
            aliases: BTreeMap::new(),
            budget: Cell::new(MAX_TYPES),
        };
        for item in items {
            match item {
                syn::Item::Struct(item) => _ = scope.opaque.insert(item.ident.to_string()),
                syn::Item::Enum(item) => _ = scope.opaque.insert(item.ident.to_string()),
                syn::Item::Type(item) => {
                    _ = scope
                        .aliases
                        .insert(item.ident.to_string(), (*item.ty).clone())
                }
                _ => {}
            }
        }
        scope
    }
}

fn check_block(block: &syn::ItemForeignMod) -> syn::Result<()> {
    match &block.abi.name {
        Some(name) if name.value() != "C" => {
            return Err(syn::Error::new(name.span(), "the ABI must be \"C\""));
        }
        _ => {}
    }
    for attribute in &block.attrs {
        if !(attribute.path().is_ident("doc") || attribute.path().is_ident("link")) {
            return Err(unknown_attribute(
                attribute,
                "doc comments and `#[link(…)]`",
            ));
        }
    }
    Ok(())
}

fn unknown_attribute(attribute: &syn::Attribute, expected: &str) -> syn::Error {
    let path: Vec<String> = attribute
        .path()
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    let message = format!(
        "unknown attribute `{}`; known here: {expected}",
        path.join("::")
    );
    syn::Error::new(attribute.span(), message)
}

fn foreign_item(
    file: &str,
    scope: &Scope,
    item: &syn::ForeignItem,
) -> syn::Result<(Span, Function)> {
    let syn::ForeignItem::Fn(item) = item else {
        return Err(syn::Error::new(
            item.span(),
            "only functions can be described",
        ));
    };
    let attributes = Attributes::of(&item.attrs)?;
    let name = &item.sig.ident;
    let mut by_value = None;
    let mut params = Vec::with_capacity(item.sig.inputs.len());
    for input in &item.sig.inputs {
        let syn::FnArg::Typed(param) = input else {
            return Err(syn::Error::new(input.span(), "a C function has no `self`"));
        };
        params.push(value_type(scope, &param.ty, &mut by_value)?);
    }
    let (result, noreturn) = match &item.sig.output {
        syn::ReturnType::Default => (CType::Void, false),
        syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Never(_)) => (CType::Void, true),
        syn::ReturnType::Type(_, ty) if is_unit(ty) => (CType::Void, false),
        syn::ReturnType::Type(_, ty) => (value_type(scope, ty, &mut by_value)?, false),
    };
    let symbol = attributes
        .link_name
        .unwrap_or_else(|| syn::ext::IdentExt::unraw(name).to_string());
    let variadic = item.sig.variadic.is_some();
    // Only a probe can know how many arguments there are.
    let unknown = (variadic && attributes.probe.is_none()).then(|| "variable arguments".to_owned());
    let refusal = attributes.no_wrap.or(unknown).or(by_value);
    if let (Some(with), None) = (&attributes.with, &attributes.probe) {
        let message = "only a probe gets another function: `#[probe(name)]` is missing";
        return Err(syn::Error::new(with.span(), message));
    }
    let with = attributes.with.map(|with| with.to_string());
    let (source, probe, since) = (file.to_owned(), attributes.probe, attributes.since);
    Ok((
        name.span(),
        Function {
            symbol,
            source,
            result,
            params,
            variadic,
            noreturn,
            probe,
            with,
            refusal,
            since,
        },
    ))
}

fn is_unit(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// What the attributes of a function say.
#[derive(Default)]
struct Attributes {
    probe: Option<Probe>,
    with: Option<syn::Ident>,
    link_name: Option<String>,
    no_wrap: Option<String>,
    since: Option<(u32, u32)>,
}

impl Attributes {
    fn of(list: &[syn::Attribute]) -> syn::Result<Self> {
        let mut all = Self::default();
        for attribute in list {
            let path = attribute.path();
            let repeated = if path.is_ident("doc") {
                false
            } else if path.is_ident("probe") {
                all.probe
                    .replace(attribute.parse_args_with(probe)?)
                    .is_some()
            } else if path.is_ident("with") {
                all.with.replace(attribute.parse_args()?).is_some()
            } else if path.is_ident("link_name") {
                let symbol = text(attribute)?;
                if !is_symbol(&symbol) {
                    let message = "a symbol begins with a letter, `_` or `.` and goes on with these, digits and `$`";
                    return Err(syn::Error::new(attribute.span(), message));
                }
                all.link_name.replace(symbol).is_some()
            } else if path.is_ident("no_wrap") {
                all.no_wrap.replace(text(attribute)?).is_some()
            } else if path.is_ident("since") {
                all.since
                    .replace(attribute.parse_args_with(version)?)
                    .is_some()
            } else {
                return Err(unknown_attribute(
                    attribute,
                    "probe, with, link_name, no_wrap, since, doc comments",
                ));
            };
            if repeated {
                return Err(syn::Error::new(attribute.span(), "attribute given twice"));
            }
        }
        Ok(all)
    }
}

/// What every assembler takes as a name without quotes.
fn is_symbol(name: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte);
    name.bytes().all(inside)
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || "_.".contains(first))
}

/// The text of `#[name = "text"]`; it must not be empty.
fn text(attribute: &syn::Attribute) -> syn::Result<String> {
    if let syn::Expr::Lit(syn::ExprLit {
        lit: syn::Lit::Str(text),
        ..
    }) = &attribute.meta.require_name_value()?.value
        && !text.value().is_empty()
    {
        return Ok(text.value());
    }
    Err(syn::Error::new(
        attribute.span(),
        "expected a text that is not empty: `#[name = \"text\"]`",
    ))
}

/// `major` or `major, minor`.
fn version(input: syn::parse::ParseStream<'_>) -> syn::Result<(u32, u32)> {
    let major = input.parse::<syn::LitInt>()?.base10_parse()?;
    let mut minor = 0;
    if !input.is_empty() {
        input.parse::<syn::Token![,]>()?;
        minor = input.parse::<syn::LitInt>()?.base10_parse()?;
    }
    Ok((major, minor))
}

/// `name, CONSTANT | CONSTANT, …`.
fn probe(input: syn::parse::ParseStream<'_>) -> syn::Result<Probe> {
    let name = input.parse::<syn::Ident>()?.to_string();
    let mut constants = Vec::new();
    while !input.is_empty() {
        input.parse::<syn::Token![,]>()?;
        constants.push(constant(input)?);
    }
    Ok(Probe { name, constants })
}

/// One C constant: identifiers and integers, joined by `|`.
fn constant(input: syn::parse::ParseStream<'_>) -> syn::Result<String> {
    let mut terms = Vec::new();
    loop {
        if input.peek(syn::LitInt) {
            let number: syn::LitInt = input.parse()?;
            terms.push(number.base10_parse::<u64>()?.to_string());
        } else {
            terms.push(input.parse::<syn::Ident>()?.to_string());
        }
        if !input.peek(syn::Token![|]) {
            return Ok(terms.join(" | "));
        }
        input.parse::<syn::Token![|]>()?;
    }
}

/// The type of a parameter or result. A struct passed by value leaves a refusal in `by_value`.
fn value_type(scope: &Scope, ty: &syn::Type, by_value: &mut Option<String>) -> syn::Result<CType> {
    let resolved = c_type(scope, ty, 0)?;
    match resolved {
        Known::Type(CType::Void) => Err(syn::Error::new(
            ty.span(),
            "`c_void` is only meaningful behind a pointer",
        )),
        Known::Type(known) => Ok(known),
        Known::Opaque(name) => {
            by_value.get_or_insert_with(|| format!("struct `{name}` passed by value"));
            Ok(CType::Void)
        }
    }
}

/// A type of the description.
enum Known {
    Type(CType),
    /// A struct without known layout, by name.
    Opaque(String),
}

fn c_type(scope: &Scope, ty: &syn::Type, depth: usize) -> syn::Result<Known> {
    if depth > MAX_RUN {
        return Err(syn::Error::new(ty.span(), "the type refers to itself"));
    }
    let Some(rest) = scope.budget.get().checked_sub(1) else {
        return Err(syn::Error::new(
            ty.span(),
            "too many types in one description",
        ));
    };
    scope.budget.set(rest);
    let depth = depth + 1;
    match ty {
        syn::Type::Paren(inner) => c_type(scope, &inner.elem, depth),
        syn::Type::Group(inner) => c_type(scope, &inner.elem, depth),
        syn::Type::Ptr(pointer) => {
            let target = match c_type(scope, &pointer.elem, depth)? {
                Known::Type(target) => target,
                Known::Opaque(_) => CType::Void,
            };
            let constant = pointer_is_const(pointer);
            Ok(Known::Type(CType::Pointer {
                target: Box::new(target),
                constant,
            }))
        }
        syn::Type::FnPtr(function) => function_pointer(scope, function, depth).map(Known::Type),
        syn::Type::Path(path) if path.qself.is_none() => named_type(scope, path, depth),
        _ => Err(syn::Error::new(
            ty.span(),
            "this type has no counterpart in C; use integers, floats, pointers",
        )),
    }
}

fn pointer_is_const(pointer: &syn::TypePtr) -> bool {
    matches!(pointer.mutability, syn::PointerMutability::Const(_))
}

/// `[unsafe] extern "C" fn(…) -> …`.
fn function_pointer(scope: &Scope, function: &syn::TypeFnPtr, depth: usize) -> syn::Result<CType> {
    let is_c = function
        .abi
        .as_ref()
        .is_some_and(|abi| abi.name.as_ref().is_none_or(|name| name.value() == "C"));
    if !is_c || function.variadic.is_some() {
        let message =
            "function pointers are written `extern \"C\" fn(…)`, without variable arguments";
        return Err(syn::Error::new(function.span(), message));
    }
    let params: syn::Result<Vec<CType>> = function
        .inputs
        .iter()
        .map(|input| nested_value(scope, &input.ty, depth))
        .collect();
    let result = match &function.output {
        syn::ReturnType::Default => CType::Void,
        syn::ReturnType::Type(_, ty) if is_unit(ty) || matches!(**ty, syn::Type::Never(_)) => {
            CType::Void
        }
        syn::ReturnType::Type(_, ty) => nested_value(scope, ty, depth)?,
    };
    Ok(CType::FunctionPointer {
        result: Box::new(result),
        params: params?,
    })
}

/// A parameter or result of a function pointer.
fn nested_value(scope: &Scope, ty: &syn::Type, depth: usize) -> syn::Result<CType> {
    match c_type(scope, ty, depth)? {
        Known::Type(CType::Void) => Err(syn::Error::new(
            ty.span(),
            "`c_void` is only meaningful behind a pointer",
        )),
        Known::Type(known) => Ok(known),
        Known::Opaque(name) => {
            let message = format!(
                "struct `{name}` passed by value through a function pointer cannot be described"
            );
            Err(syn::Error::new(ty.span(), message))
        }
    }
}

/// A primitive, `core::ffi` alias, `Option<extern fn>`, alias or struct of this file.
fn named_type(scope: &Scope, path: &syn::TypePath, depth: usize) -> syn::Result<Known> {
    let Some(last) = path.path.segments.last() else {
        return Err(syn::Error::new(path.span(), "a type is missing"));
    };
    let name = last.ident.to_string();
    if let syn::PathArguments::AngleBracketed(arguments) = &last.arguments {
        if let (true, 1, Some(syn::GenericArgument::Type(inner))) = (
            name == "Option",
            arguments.args.len(),
            arguments.args.first(),
        ) && let pointer @ Known::Type(CType::FunctionPointer { .. }) =
            c_type(scope, inner, depth)?
        {
            return Ok(pointer);
        }
        return Err(syn::Error::new(
            path.span(),
            "the only generic type with a C counterpart is `Option<extern \"C\" fn(…)>`",
        ));
    }
    if let Some(alias) = scope.aliases.get(&name) {
        return c_type(scope, alias, depth);
    }
    if scope.opaque.contains(&name) {
        return Ok(Known::Opaque(name));
    }
    CType::from_rust_name(&name)
        .map(Known::Type)
        .ok_or_else(|| {
            let message = format!(
                "unknown type `{name}`; declare it here (`struct {name};`) if it is opaque"
            );
            syn::Error::new(path.span(), message)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse("t.rs", text)
            .expect_err("must be refused")
            .to_string()
    }

    /// The error of a single function.
    fn function_error(text: &str) -> String {
        error(&format!("extern \"C\" {{\n{text}\n}}"))
    }

    #[test]
    fn errors_name_the_place_and_what_is_expected() {
        let cases = [
            (
                "fn f(x: Missing);",
                "t.rs:2:9: unknown type `Missing`; declare it here (`struct Missing;`) if it is opaque",
            ),
            (
                "fn f(x: c_void);",
                "t.rs:2:9: `c_void` is only meaningful behind a pointer",
            ),
            (
                "fn f(x: &u8);",
                "t.rs:2:9: this type has no counterpart in C; use integers, floats, pointers",
            ),
            (
                "fn f(x: Vec<u8>);",
                "t.rs:2:9: the only generic type with a C counterpart is `Option<extern \"C\" fn(…)>`",
            ),
            (
                "fn f(x: fn());",
                "t.rs:2:9: function pointers are written `extern \"C\" fn(…)`, without variable arguments",
            ),
            (
                "#[inline] fn f();",
                "t.rs:2:1: unknown attribute `inline`; known here: probe, with, link_name, no_wrap, since, doc comments",
            ),
            (
                "#[no_wrap] fn f();",
                "t.rs:2:3: expected a value for this attribute: `no_wrap = ...`",
            ),
            (
                "#[no_wrap = \"\"] fn f();",
                "t.rs:2:1: expected a text that is not empty: `#[name = \"text\"]`",
            ),
            ("#[probe(a + b)] fn f();", "t.rs:2:11: expected `,`"),
            (
                "#[probe(a)] #[probe(a)] fn f();",
                "t.rs:2:13: attribute given twice",
            ),
            (
                "#[probe(a)] #[with(g)] fn f();",
                "t.rs:2:27: `g`, which its probe gets too, is not described in this file, or has variable arguments",
            ),
            (
                "#[with(g)] fn f();",
                "t.rs:2:8: only a probe gets another function: `#[probe(name)]` is missing",
            ),
            ("static X: u8;", "t.rs:2:1: only functions can be described"),
            (
                "#[link_name = \"a b\"] fn f();",
                "t.rs:2:1: a symbol begins with a letter, `_` or `.` and goes on with these, digits and `$`",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(function_error(text), expected);
        }
        assert!(error("fn f() {}").starts_with("t.rs:1:1: only `extern \"C\"` blocks"));
        assert_eq!(
            error("extern \"stdcall\" {}"),
            "t.rs:1:8: the ABI must be \"C\""
        );
        assert_eq!(
            error("extern \"C\" {"),
            "t.rs:1:12: cannot parse string into token stream"
        );
    }

    #[test]
    fn attributes_say_what_is_recorded() {
        let text = "struct Pair; extern \"C\" {
            #[probe(a, B | 4, C)] #[since(9, 1)] fn f();
            fn g(x: c_int, ...);
            fn h(pair: Pair);
            #[link_name = \"real.name\"] fn i() -> *const Pair;
            #[no_wrap = \"too hot\"] fn j() -> !;
        }";
        let all = parse("t.rs", text).unwrap();
        let probe = Probe {
            name: "a".to_owned(),
            constants: vec!["B | 4".to_owned(), "C".to_owned()],
        };
        assert_eq!(
            (all["f"].probe.clone(), all["f"].since),
            (Some(probe), Some((9, 1)))
        );
        assert_eq!(all["g"].refusal.as_deref(), Some("variable arguments"));
        assert_eq!(
            all["h"].refusal.as_deref(),
            Some("struct `Pair` passed by value")
        );
        assert_eq!(all["real.name"].c_prototype("i"), "const void *i(void)");
        assert_eq!(
            (all["j"].refusal.as_deref(), all["j"].noreturn),
            (Some("too hot"), true)
        );
    }

    #[test]
    fn text_made_to_exhaust_the_stack_or_the_memory_is_refused() {
        let pointers = format!("fn f(x: {}u8);", "*mut ".repeat(100_000));
        assert!(function_error(&pointers).ends_with("nested too deeply for a description"));
        let brackets = format!("fn f(x: {}u8{});", "(".repeat(100_000), ")".repeat(100_000));
        assert!(function_error(&brackets).ends_with("nested too deeply for a description"));
        let chain = format!("fn f(x: {} u8);", "extern \"C\" fn() -> ".repeat(10_000));
        assert!(function_error(&chain).ends_with("nested too deeply for a description"));
        assert!(
            error("type A = *mut A; extern \"C\" { fn f(a: A); }")
                .ends_with("the type refers to itself")
        );
        let mut bomb = String::from("type T0 = u8;");
        for level in 1..40 {
            bomb += &format!("type T{level} = extern \"C\" fn(T{0}, T{0});", level - 1);
        }
        assert!(
            error(&(bomb + "extern \"C\" { fn f(t: T39); }"))
                .ends_with("too many types in one description")
        );
    }
}
