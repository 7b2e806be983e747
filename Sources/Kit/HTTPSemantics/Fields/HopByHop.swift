public import HTTPTypes

/// Fields that concern one connection only. RFC 9110 §7.6.1.
public enum HopByHop {
    /// The fields that are never forwarded, whether `Connection` names them or not.
    ///
    /// `Trailer` is one of them here: trailers are dropped (RFC 9110 §6.5.1), so none may be announced.
    static let fields: Set<HTTPField.Name> = [
        .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]

    /// Fields meant for all recipients. To nominate them is an error of the sender (RFC 9110 §7.6.1), and to obey it
    /// would let a message remove the rules by which it is stored and selected.
    private static let neverNominated: Set<HTTPField.Name> = [
        .cacheControl, .vary, .date, .expires, .age, .eTag, .contentLength, .contentType, .contentEncoding,
        .contentRange, .authorization, .transferEncoding, .expect, HTTPField.Name(literal: "Host"),
    ]

    /// Returns the fields that `Connection` names.
    public static func nominated(in fields: HTTPFields) -> Set<HTTPField.Name> {
        nominated(inLines: fields[values: .connection])
    }

    /// Returns the fields that lines of `Connection` name.
    public static func nominated(inLines lines: [String]) -> Set<HTTPField.Name> {
        Set(lines.flatMap { FieldList.members(of: $0) }.compactMap { HTTPField.Name(String($0)) })
            .subtracting(neverNominated)
    }

    /// Removes the fields that must not be forwarded from a request or a response.
    public static func remove(from message: inout HTTPFields) {
        message.removeAll(named: fields.union(nominated(in: message)))
    }
}
