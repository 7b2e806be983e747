import Foundation
import HTTP
package import HTTPTypes
package import NIOCore

/// The proxies whose word on the address of a client is believed (`http.trusted_proxies`). Without any, a client's
/// address is that of its connection. See docs/decisions/0056.
package struct TrustedProxies: Sendable, Equatable {
    package static let none = TrustedProxies([])

    private let ranges: [AddressRange]

    /// Trusts the addresses in these ranges.
    package init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    /// Whether an address is that of a trusted proxy.
    package func contains(_ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// Returns the address of the client of a request.
    ///
    /// Each proxy appends the address of its own peer, so the fields are read from their end. The first address that is
    /// no trusted proxy's is the client; a client can forge all entries ahead of it. Some proxies append to one of the
    /// two fields and pass on the other unchanged. If the two name different clients, the address of the proxy is
    /// returned.
    /// - Parameters:
    ///   - peer: the address of the connection
    ///   - fields: the header fields of the request
    package func client(behind peer: IPAddress?, _ fields: HTTPFields) -> IPAddress? {
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

/// A range of IP addresses in CIDR notation, such as `10.0.0.0/8` (RFC 4632 §3.1); an address alone is a range of one.
package struct AddressRange: Sendable, Equatable {
    private let first: IPAddress
    private let prefixLength: Int

    /// Reads a range; nil if the text is none.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(parts[0]) else { return nil }
        let bits = first.bytes.count * 8
        guard parts.count > 1 else {
            (self.first, prefixLength) = (first, bits)
            return
        }
        guard parts[1].isDigits, let length = Int(parts[1]), length <= bits else { return nil }
        (self.first, prefixLength) = (first, length)
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let whole = prefixLength / 8
        guard address.bytes[..<whole] == first.bytes[..<whole] else { return false }
        let rest = prefixLength % 8
        guard rest > 0 else { return true }
        let mask = UInt8(0xFF) << UInt8(8 - rest)
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }
}

/// An IPv4 or IPv6 address. An IPv4 address that is mapped to IPv6 is the IPv4 address (RFC 4291 §2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        self.bytes = bytes.starts(with: Self.mapped) && bytes.count == 16 ? Array(bytes[12...]) : bytes
    }

    /// Reads an address without port, brackets and zone; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// The address of a socket; nil if it is none of the Internet.
    package init?(_ address: SocketAddress) {
        switch address {
        // `sin_addr` and `sin6_addr`, by their places in the structures: which module of C they belong to depends on
        // the other imports.
        case .v4(let address): self.init(bytes: withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
        case .v6(let address): self.init(bytes: withUnsafeBytes(of: address.address) { Array($0[8..<24]) })
        case .unixDomainSocket: return nil
        }
    }

    /// Whether it is of this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The address that counts as one client: an IPv4 address, or the /64 network of an IPv6 address, all of which one
    /// host may have (RFC 4291 §2.5.4).
    package var client: IPAddress {
        bytes.count == 4 ? self : IPAddress(bytes: bytes[..<8] + [UInt8](repeating: 0, count: 8))
    }

    /// Its text form, for IPv6 that of RFC 5952.
    package var description: String {
        let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)
        return address?.ipAddress ?? ""
    }
}
