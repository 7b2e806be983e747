import HTTPSemantics
public import HTTPTypes

/// The proxies whose word on the address of a client is believed (`http.trusted_proxies`). Without any, a client's
/// address is that of its connection. See docs/decisions/0056.
public struct TrustedProxies: Sendable, Equatable {
    /// No proxy is trusted.
    public static let none = TrustedProxies([])

    private let ranges: [AddressRange]

    /// Trusts the addresses in these ranges.
    public init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    /// Whether an address is that of a trusted proxy.
    public func contains(_ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// Returns the address of the client of a request.
    ///
    /// Each proxy appends the address of its own peer, so the fields are read from their end: the first address that is
    /// no trusted proxy's is the client, and what is ahead of it is the client's own word. Some proxies append to one
    /// of the two fields and pass on the other as the client sent it; if the two name different clients, the address of
    /// the proxy is returned.
    /// - Parameters:
    ///   - peer: the address of the connection
    ///   - fields: the header fields of the request
    public func client(behind peer: IPAddress?, _ fields: HTTPFields) -> IPAddress? {
        guard let peer, contains(peer) else { return peer }
        let clients = [ForwardedAddresses.xForwardedFor(fields), ForwardedAddresses.forwarded(fields)].compactMap {
            $0.map { client(behind: peer, $0) }
        }
        guard let first = clients.first, clients.allSatisfy({ $0 == first }) else { return peer }
        return first
    }

    /// - Parameter hops: the addresses that were appended, nil if one is not an address
    private func client(behind peer: IPAddress, _ hops: [IPAddress?]) -> IPAddress {
        var client = peer
        for hop in hops.reversed() {
            // A hop that hides its address: the last proxy's is used.
            guard let hop else { return client }
            client = hop
            if !contains(hop) { return client }
        }
        return client
    }
}

/// The addresses that proxies have appended to a request; nil for a hop that is not an address.
enum ForwardedAddresses {
    /// Reads `X-Forwarded-For`; nil without the field.
    static func xForwardedFor(_ fields: HTTPFields) -> [IPAddress?]? {
        let lines = fields[values: .xForwardedFor]
        return lines.isEmpty ? nil : lines.flatMap { FieldList.members(of: $0) }.map { node($0) }
    }

    /// Reads the parameters `for` of `Forwarded` (RFC 7239 §5.2); nil without the field.
    static func forwarded(_ fields: HTTPFields) -> [IPAddress?]? {
        let lines = fields[values: .forwarded]
        return lines.isEmpty ? nil : lines.flatMap { FieldList.members(of: $0) }.map { element($0) }
    }

    private static func element(_ text: Substring) -> IPAddress? {
        for pair in FieldList.members(of: text, separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == "for" else { continue }
            return node(FieldList.unquoted(parts[1]).map { $0[...] } ?? parts[1])
        }
        return nil
    }

    /// Reads a node (RFC 7239 §6): an address, IPv6 in brackets, with or without a port. `X-Forwarded-For` has IPv6
    /// addresses without brackets as well.
    private static func node(_ text: Substring) -> IPAddress? {
        if text.first == "[" {
            return text.firstIndex(of: "]").flatMap { IPAddress(text[..<$0].dropFirst()) }
        }
        if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon { return IPAddress(text[..<colon]) }
        return IPAddress(text)
    }
}

extension HTTPField.Name {
    /// `X-Forwarded-For`, a convention of proxies.
    static let xForwardedFor = HTTPField.Name(literal: "X-Forwarded-For")
    /// `Forwarded`, RFC 7239.
    static let forwarded = HTTPField.Name(literal: "Forwarded")
}
