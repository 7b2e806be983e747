public import HTTPTypes

extension HTTPField.Name {
    /// Creates a name from a literal, for the constants of a program.
    ///
    /// - Precondition: `literal` is a token (RFC 9110 §5.1). It is known when the program is written, so a violation is
    ///   an error of the program, and the first use of the constant ends it.
    public init(literal: StaticString) {
        guard let name = Self(literal.description) else { preconditionFailure("\(literal) is not a field name") }
        self = name
    }
}
