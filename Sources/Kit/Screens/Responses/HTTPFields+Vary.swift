import HTTPSemantics
package import HTTPTypes

extension HTTPFields {
    /// Adds to `Vary` that the response also depends on this field of the request (RFC 9110 §12.5.5).
    package mutating func vary(on name: HTTPField.Name) {
        let named = self[values: .vary].flatMap { FieldList.members(of: $0) }.map { $0.lowercased() }
        guard !named.contains(name.canonicalName), !named.contains("*") else { return }
        self[.vary] = self[.vary].map { "\($0), \(name.rawName)" } ?? name.rawName
    }
}
