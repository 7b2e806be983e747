import Foundation
public import NIOCore

/// An IPv4 or IPv6 address. An IPv4 address that is mapped to IPv6 is the IPv4 address (RFC 4291 §2.5.5.2).
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        self.bytes = bytes.starts(with: Self.mapped) && bytes.count == 16 ? Array(bytes[12...]) : bytes
    }

    /// Reads an address without port, brackets and zone; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// The address of a socket; nil if it is none of the Internet.
    public init?(_ address: SocketAddress) {
        switch address {
        // `sin_addr` and `sin6_addr`, by their places in the structures: which module of C they belong to depends on
        // what else is imported.
        case .v4(let address): self.init(bytes: withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
        case .v6(let address): self.init(bytes: withUnsafeBytes(of: address.address) { Array($0[8..<24]) })
        case .unixDomainSocket: return nil
        }
    }

    /// Whether it is of this machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    public var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, all of which one host may
    /// have (RFC 4291 §2.5.4).
    public var client: IPAddress {
        bytes.count == 4 ? self : IPAddress(bytes: bytes[..<8] + [UInt8](repeating: 0, count: 8))
    }

    /// Its text form, for IPv6 that of RFC 5952.
    public var description: String {
        let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)
        return address?.ipAddress ?? ""
    }
}
