public import HTTPTypes

/// Fields that concern one connection only. RFC 9110 §7.6.1.
public enum HopByHop {
    /// The fields that are never forwarded, whether `Connection` names them or not.
    static let fields: Set<HTTPField.Name> = [
        .connection, .keepAlive, .proxyConnection, .te, .transferEncoding, .upgrade,
    ]

    /// Fields meant for all recipients. To nominate them is an error of the sender (RFC 9110 §7.6.1), and to obey it
    /// would let a message remove the rules by which it is stored and selected.
    private static let neverNominated: Set<HTTPField.Name> = [
        .cacheControl, .vary, .date, .expires, .age, .eTag, .contentLength, .contentType, .contentEncoding,
        .contentRange, .authorization,
    ]

    /// Returns the fields that `Connection` names.
    public static func nominated(in fields: HTTPFields) -> Set<HTTPField.Name> {
        Set(
            fields[values: .connection].flatMap { FieldList.members(of: $0) }.compactMap { HTTPField.Name(String($0)) }
        )
        .subtracting(neverNominated)
    }

    /// Removes the fields that must not be forwarded from a request or a response.
    public static func remove(from message: inout HTTPFields) {
        message.removeAll(named: fields.union(nominated(in: message)))
    }
}
