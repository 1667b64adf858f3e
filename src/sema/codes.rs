//! The codes of what this module reports, one for each kind of mistake.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)+) => {
        $($(#[$doc])* pub(super) const $name: &str = $code;)+

        #[cfg(test)]
        pub(super) const ALL: &[&str] = &[$($code),+];
    };
}

codes! {
    /// A name that means nothing here.
    UNKNOWN_NAME = "E0201";
    /// A type's name that means nothing.
    UNKNOWN_TYPE = "E0202";
    /// A field that the struct does not have.
    UNKNOWN_FIELD = "E0203";
    /// Two functions, two structs, or a function and a struct of one name.
    DUPLICATE_ITEM = "E0204";
    /// Two globals of one name.
    DUPLICATE_GLOBAL = "E0205";
    /// Two parameters of one name.
    DUPLICATE_PARAM = "E0206";
    /// Two fields of one name in a declaration.
    DUPLICATE_FIELD = "E0207";
    /// A global used by a top-level statement above its declaration.
    GLOBAL_TOO_EARLY = "E0208";
    /// A builtin used as a value.
    BUILTIN_VALUE = "E0209";
    /// A struct with the name of a basic type.
    BASIC_TYPE_NAME = "E0210";

    /// A value of another type than is wanted.
    MISMATCH = "E0301";
    /// Operands that a binary operator does not take.
    BINARY_OPERANDS = "E0302";
    /// An operand that a unary operator does not take.
    UNARY_OPERAND = "E0303";
    /// Sides that can't be compared.
    COMPARISON = "E0304";
    /// A condition that is no bool.
    CONDITION = "E0305";
    /// Too few or too many arguments.
    ARGUMENT_COUNT = "E0306";
    /// A call of what is no function.
    NOT_CALLABLE = "E0307";
    /// `nil` or `[]` where nothing tells its type.
    TYPE_NOT_KNOWN = "E0308";
    /// A field of what has none.
    NO_FIELDS = "E0309";
    /// An index into what has no elements.
    NOT_INDEXABLE = "E0310";
    /// `!` on what is never nil.
    NEVER_NIL_UNWRAP = "E0311";
    /// `T?` of a type that has no such form.
    NO_OPTIONAL = "E0312";
    /// A call without a result used as a value.
    NO_VALUE = "E0313";
    /// A conversion that does not exist.
    NO_CONVERSION = "E0314";
    /// A loop over what has no elements.
    NOT_ITERABLE = "E0315";
    /// A match on a type that can't be matched.
    MATCH_TYPE = "E0316";
    /// A pattern of another type than the value.
    PATTERN_TYPE = "E0317";
    /// An argument that a builtin does not take.
    BUILTIN_ARGUMENT = "E0318";
    /// `return` with a value that is not wanted or without one that is.
    RETURN_VALUE = "E0319";
    /// `nil` compared with what is never nil.
    NEVER_NIL_COMPARE = "E0320";
    /// A type that nests too deep.
    TYPE_DEPTH = "E0321";

    /// An assignment to a `let`.
    ASSIGN_LET = "E0401";
    /// An assignment to a loop's variable.
    ASSIGN_LOOP = "E0402";
    /// An assignment to a captured variable.
    ASSIGN_CAPTURE = "E0403";
    /// An assignment to a byte of a str.
    ASSIGN_STR = "E0404";
    /// An assignment to what is no place.
    ASSIGN_NO_PLACE = "E0405";
    /// `break` or `continue` outside of a loop.
    OUTSIDE_LOOP = "E0406";
    /// `return` at top level.
    RETURN_AT_TOP = "E0407";
    /// A struct literal without all fields.
    MISSING_FIELDS = "E0408";
    /// A struct literal with a field twice.
    REPEATED_FIELD = "E0409";
    /// A `main` of another signature.
    MAIN_SIGNATURE = "E0410";

    /// A value dropped that is no call's.
    DROPPED_VALUE = "W0601";
    /// An arm that can never match.
    DEAD_ARM = "W0602";
}
