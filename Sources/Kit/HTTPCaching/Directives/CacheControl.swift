public import HTTPSemantics
public import HTTPTypes

/// The directives of a `Cache-Control` field, as written: unknown ones and repetitions included. RFC 9111 §5.2.
public struct CacheControl: Sendable, Equatable {
    /// One directive.
    public struct Directive: Sendable, Equatable {
        /// Its name in lower case: names are case-insensitive (RFC 9111 §5.2).
        public var name: String
        /// The text after the `=`.
        public var argument: Argument

        /// Creates a directive.
        public init(name: String, argument: Argument = .none) {
            self.name = name
            self.argument = argument
        }
    }

    /// The argument of a directive.
    public enum Argument: Sendable, Equatable {
        /// There is no argument.
        case none
        /// A token, or the content of a quoted string. Recipients accept both forms (RFC 9111 §5.2).
        case value(String)
        /// A text that the syntax does not allow, such as whitespace beside the `=`.
        case invalid
    }

    /// The directives in their order.
    public var directives: [Directive]

    /// Creates a set of directives.
    public init(directives: [Directive] = []) {
        self.directives = directives
    }

    /// Reads the lines of a field.
    public init(lines: [String]) {
        directives = lines.flatMap { FieldList.members(of: $0).compactMap(Self.directive) }
    }

    /// Reads a field of a message, all its lines.
    public init(_ fields: HTTPFields, field: HTTPField.Name = .cacheControl) {
        self.init(lines: fields[values: field])
    }

    /// Returns whether a directive is present, with any argument.
    public func contains(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Returns the seconds that a directive gives; nil if it is absent.
    ///
    /// RFC 9111 §4.2.1 permits a cache to use the first of several values or to consider the response stale; different
    /// values are invalid here.
    public func deltaSeconds(_ name: String) -> DeltaSeconds? {
        var result: DeltaSeconds?
        for directive in directives where directive.name == name {
            let value: DeltaSeconds =
                if case .value(let text) = directive.argument { DeltaSeconds(text) } else { .invalid }
            if let earlier = result, earlier != value { return .invalid }
            result = value
        }
        return result
    }

    /// Reads a directive. Its name is the run of token characters at the start; text after it that is not an argument
    /// makes the argument invalid, so that `private; max-age=60` still says `private`.
    private static func directive(_ member: Substring) -> Directive? {
        let name = member.utf8.prefix(while: ASCIISet.token.contains)
        guard !name.isEmpty else { return nil }
        return Directive(name: Substring(name).lowercased(), argument: argument(member[name.endIndex...]))
    }

    private static func argument(_ rest: Substring) -> Argument {
        guard !rest.isEmpty else { return .none }
        guard rest.utf8.first == UInt8(ascii: "=") else { return .invalid }
        let value = rest.dropFirst()
        if let text = FieldList.unquoted(value) { return .value(text) }
        guard !value.isEmpty, value.utf8.allSatisfy(ASCIISet.token.contains) else { return .invalid }
        return .value(String(value))
    }
}
