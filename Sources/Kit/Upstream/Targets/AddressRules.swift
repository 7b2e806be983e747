import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Decides which network addresses links in an upstream's data may lead to: public ones only, so that no data can make
/// Larder send requests into the machine's own network.
enum AddressRules {
    /// Whether an address is globally reachable (IANA special-purpose registries, RFC 6890 and successors).
    static func isPublic(_ address: SocketAddress) -> Bool {
        address.ipAddress.map { isPublic($0) } ?? false
    }

    /// Whether an address in text form is globally reachable.
    static func isPublic(_ ipAddress: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, ipAddress, &bytes) == 1 { return isPublic(v4: Array(bytes.prefix(4))) }
        return inet_pton(AF_INET6, ipAddress, &bytes) == 1 && isPublic(v6: bytes)
    }

    /// Whether an IPv4 address, four bytes in network order, is globally reachable.
    static func isPublic(v4 bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _): return false  // this network, private, loopback
        case (100, 64...127, _): return false  // shared address space, RFC 6598
        case (169, 254, _): return false  // link local, cloud metadata
        case (172, 16...31, _), (192, 168, _): return false  // private
        // Protocol assignments and documentation.
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113): return false
        case (198, 18...19, _): return false  // benchmarking
        case (224..., _, _): return false  // multicast, reserved, broadcast
        default: return true
        }
    }

    /// Whether an IPv6 address, sixteen bytes in network order, is globally reachable.
    static func isPublic(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        if bytes[0..<10].allSatisfy({ $0 == 0 }) && bytes[10] == 0xFF && bytes[11] == 0xFF {
            return isPublic(v4: Array(bytes[12...]))  // IPv4-mapped, RFC 4291 §2.5.5.2
        }
        if bytes[0..<12].elementsEqual([0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return isPublic(v4: Array(bytes[12...]))  // NAT64, RFC 6052; not a network's own, RFC 8215
        }
        if bytes[0] == 0x20 && bytes[1] == 0x02 { return isPublic(v4: Array(bytes[2..<6])) }  // 6to4, RFC 3056
        // Documentation.
        if bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8 { return false }
        // Protocol assignments 2001::/23: Teredo, benchmarking, ORCHID.
        if bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] < 0x02 { return false }
        if bytes[0] == 0x3F && bytes[1] == 0xFF && bytes[2] < 0x10 { return false }  // documentation, RFC 9637
        return bytes[0] & 0xE0 == 0x20  // global unicast 2000::/3; not loopback, unique local, link local, multicast
    }
}
