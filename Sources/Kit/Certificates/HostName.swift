import Foundation
import NIOCore
import SwiftASN1
import X509

/// A host name or an address, as a certificate has it.
package struct HostName: Sendable, Hashable {
    /// In lower case; addresses in their shortest form.
    package let text: String
    private let address: [UInt8]?

    /// Takes a text: letters, digits, hyphens and dots, perhaps with `*.` at the beginning, or an address.
    ///
    /// - Throws: `CertificateError` if it is neither.
    package init(_ text: String) throws(CertificateError) {
        let lower = text.lowercased()
        if let address = try? SocketAddress(ipAddress: lower, port: 0), let shortest = address.ipAddress {
            self.text = shortest
            self.address = Self.bytes(of: address)
            return
        }
        let labels = (lower.hasPrefix("*.") ? lower.dropFirst(2) : lower[...]).split(
            separator: ".",
            omittingEmptySubsequences: false
        )
        // Four numbers that are no address are none of a name either (WHATWG URL, ends in a number).
        guard lower.utf8.count <= 253, labels.allSatisfy(Self.isLabel), labels.last?.allSatisfy(\.isNumber) == false
        else { throw .unusableName(text) }
        self.text = lower
        address = nil
    }

    /// As an alternative name of a certificate (RFC 5280 §4.2.1.6).
    var alternativeName: GeneralName {
        address.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) } ?? .dnsName(text)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
            }
    }

    private static func bytes(of address: SocketAddress) -> [UInt8]? {
        switch address {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: nil
        }
    }

    /// The names and addresses of this machine that other machines may know, and those of the loopback interface.
    ///
    /// Left out are addresses that are valid on one link only, and names that no certificate can have.
    package static func ofThisMachine() -> [HostName] {
        let host = ProcessInfo.processInfo.hostName.lowercased()
        let first = host.prefix { $0 != "." }
        var names = [host, "\(first).local", "localhost", "larder.localhost", "127.0.0.1", "::1"]
        let devices = (try? System.enumerateDevices()) ?? []
        names += devices.compactMap { $0.address?.ipAddress }.filter {
            !$0.hasPrefix("fe80:") && !$0.hasPrefix("169.254.")
        }
        var seen: Set<HostName> = []
        return names.compactMap { try? HostName($0) }.filter { seen.insert($0).inserted }
    }
}
