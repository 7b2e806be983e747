import HTTPTypes

extension HTTPField.Name {
    /// Overrides the upstream's fault for one request.
    static let sandboxFault = name("Sandbox-Fault")

    /// A field name that is written in the source; `name` is a token of RFC 9110.
    static func name(_ name: StaticString) -> HTTPField.Name {
        guard let parsed = HTTPField.Name(name.description) else { preconditionFailure("\(name) is not a field name") }
        return parsed
    }
}
