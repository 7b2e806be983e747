public import HTTPTypes

/// Fields that concern one connection only. RFC 9110 §7.6.1.
public enum HopByHop {
    /// Those that are never passed on, named in `Connection` or not.
    static let fields: Set<HTTPField.Name> = [
        .connection, .keepAlive, .proxyConnection, .te, .transferEncoding, .upgrade,
    ]

    /// Those about a proxy, which a cache does not keep. RFC 9111 §3.1.
    static let proxyFields: Set<HTTPField.Name> = [.proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization]

    /// Fields meant for all recipients. To nominate them is an error of the sender (RFC 9110 §7.6.1), and to obey it
    /// would let a message shed the very rules by which it is stored and told apart.
    private static let neverNominated: Set<HTTPField.Name> = [
        .cacheControl, .vary, .date, .expires, .age, .eTag, .contentLength, .contentType, .contentEncoding,
        .contentRange, .authorization,
    ]

    /// Fields that `Connection` names, whichever they are.
    public static func nominated(in fields: HTTPFields) -> Set<HTTPField.Name> {
        Set(
            fields[values: .connection].flatMap { FieldList.members(of: $0) }.compactMap { HTTPField.Name(String($0)) }
        )
        .subtracting(neverNominated)
    }

    /// Removes what must not be passed on, from a request or a response.
    public static func remove(from message: inout HTTPFields) {
        message.removeAll(named: fields.union(nominated(in: message)))
    }
}

extension HTTPFields {
    /// Removes all lines of these fields.
    mutating func removeAll(named names: Set<HTTPField.Name>) {
        removeAll { names.contains($0.name) }
    }
}
