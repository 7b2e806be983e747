import HTTPSemantics
public import HTTPTypes

/// The part of the cache key that a response's `Vary` adds. RFC 9111 §4.1.
public enum Vary: Sendable, Equatable {
    /// The response depends on these request fields, possibly none, each named once and in lower case.
    case fields([HTTPField.Name])
    /// The list has `*`, a member that is not a field name, or more than `most` names: no request ever matches.
    case everything

    /// Most fields that a response may vary by; a response that names more matches no request.
    static let most = 64

    /// Reads the header fields of a response, all lines of `Vary`.
    public init(_ fields: HTTPFields) {
        var names: [HTTPField.Name] = []
        for member in fields[values: .vary].flatMap({ FieldList.members(of: $0) }) {
            guard member != "*", let name = HTTPField.Name(member.lowercased()) else {
                self = .everything
                return
            }
            if !names.contains(name) { names.append(name) }
            guard names.count <= Self.most else {
                self = .everything
                return
            }
        }
        self = .fields(names)
    }

    /// Returns the request's lines of the nominated fields, which are stored with the response.
    public func nominated(in request: HTTPFields) -> HTTPFields {
        guard case .fields(let names) = self else { return [:] }
        var kept = HTTPFields()
        for name in names { kept.append(contentsOf: request[fields: name]) }
        return kept
    }
}

extension CachedResponseHead {
    /// Returns whether the request has the same nominated fields as the request of the stored response. RFC 9111 §4.1.
    public func matches(_ request: HTTPFields) -> Bool {
        guard case .fields(let names) = Vary(headerFields) else { return false }
        return names.allSatisfy {
            varyingFields[values: $0] == request[values: $0]
                || SelectingField.normalized($0, in: varyingFields) == SelectingField.normalized($0, in: request)
        }
    }
}
