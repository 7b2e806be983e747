public import HTTPTypes

extension HTTPFields {
    /// Says that the response also depends on this field of the request (RFC 9110 §12.5.5).
    public mutating func vary(on name: HTTPField.Name) {
        let named = (self[.vary] ?? "").split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        guard !named.contains(name.canonicalName), !named.contains("*") else { return }
        self[.vary] = self[.vary].map { "\($0), \(name.rawName)" } ?? name.rawName
    }
}
