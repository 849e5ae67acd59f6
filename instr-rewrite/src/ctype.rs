//! C types of described functions, and how they are written in C.

/// A C type that a description can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CType {
    /// `void`: no result, or the target of a pointer.
    Void,
    /// An integer type, `bool` included, by its C name.
    Integer(&'static str),
    /// `float` or `double`, by its C name.
    Float(&'static str),
    /// A pointer to data.
    Pointer {
        /// What it points to.
        target: Box<CType>,
        /// The target is `const`.
        constant: bool,
    },
    /// A pointer to a function.
    FunctionPointer {
        /// What the function returns.
        result: Box<CType>,
        /// Its parameters, in order.
        params: Vec<CType>,
    },
}

impl CType {
    /// The C type of a Rust primitive or `core::ffi` alias; `None` when there is none.
    pub(crate) fn from_rust_name(name: &str) -> Option<Self> {
        let integer = match name {
            "c_void" => return Some(Self::Void),
            "f32" | "c_float" => return Some(Self::Float("float")),
            "f64" | "c_double" => return Some(Self::Float("double")),
            "bool" => "bool",
            "c_char" => "char",
            "c_schar" => "signed char",
            "c_uchar" => "unsigned char",
            "c_short" => "short",
            "c_ushort" => "unsigned short",
            "c_int" => "int",
            "c_uint" => "unsigned",
            "c_long" => "long",
            "c_ulong" => "unsigned long",
            "c_longlong" => "long long",
            "c_ulonglong" => "unsigned long long",
            "i8" => "int8_t",
            "u8" => "uint8_t",
            "i16" => "int16_t",
            "u16" => "uint16_t",
            "i32" => "int32_t",
            "u32" => "uint32_t",
            "i64" => "int64_t",
            "u64" => "uint64_t",
            "isize" => "intptr_t",
            "usize" => "uintptr_t",
            "size_t" => "size_t",
            "ssize_t" => "ptrdiff_t",
            // `_Complex int`, a GNU extension: GCC 17's static loops return one. Only probes can take it.
            "c_complex_int" => "instr_complex_int",
            _ => return None,
        };
        Some(Self::Integer(integer))
    }

    /// Whether this is `void`.
    pub fn is_void(&self) -> bool {
        matches!(self, Self::Void)
    }

    /// The C declaration of `name` with this type; an empty name gives the bare type.
    pub fn declare(&self, name: &str) -> String {
        match self {
            Self::Void => join("void", name),
            Self::Integer(text) | Self::Float(text) => join(text, name),
            Self::Pointer { target, constant } => {
                let inner = target.declare(&format!("*{name}"));
                match (constant, target.as_ref()) {
                    (false, _) => inner,
                    // `const T *` for plain targets, `T *const *` for pointers to pointers.
                    (true, Self::Pointer { .. } | Self::FunctionPointer { .. }) => {
                        target.declare(&format!("const *{name}"))
                    }
                    (true, _) => format!("const {inner}"),
                }
            }
            Self::FunctionPointer { result, params } => {
                result.declare(&format!("(*{name})({})", parameter_list(params, false)))
            }
        }
    }
}

/// The text between the parentheses of a C prototype without parameter names.
pub(crate) fn parameter_list(params: &[CType], variadic: bool) -> String {
    if params.is_empty() {
        return "void".to_owned();
    }
    let mut list: Vec<String> = params.iter().map(|param| param.declare("")).collect();
    list.extend(variadic.then(|| "...".to_owned()));
    list.join(", ")
}

fn join(text: &str, name: &str) -> String {
    if name.is_empty() {
        text.to_owned()
    } else {
        format!("{text} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(target: CType, constant: bool) -> CType {
        CType::Pointer {
            target: Box::new(target),
            constant,
        }
    }

    #[test]
    fn declarators_follow_the_c_grammar() {
        let body = CType::FunctionPointer {
            result: Box::new(CType::Void),
            params: vec![pointer(CType::Void, false)],
        };
        assert_eq!(body.declare("fn"), "void (*fn)(void *)");
        assert_eq!(
            pointer(pointer(CType::Void, false), false).declare("p"),
            "void **p"
        );
        assert_eq!(
            pointer(CType::Integer("char"), true).declare("s"),
            "const char *s"
        );
        assert_eq!(
            pointer(pointer(CType::Integer("char"), true), false).declare("v"),
            "const char **v"
        );
        assert_eq!(
            pointer(pointer(CType::Integer("char"), false), true).declare("v"),
            "char *const *v"
        );
        let returns = CType::FunctionPointer {
            result: Box::new(body.clone()),
            params: vec![],
        };
        assert_eq!(returns.declare("f"), "void (*(*f)(void))(void *)");
        assert_eq!(pointer(body, false).declare("t"), "void (**t)(void *)");
    }
}
