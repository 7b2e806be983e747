import NIOCore
import SwiftASN1
import X509

/// The hosts that a certificate is for (RFC 9525 §6.3).
package struct CertificateNames: Sendable, Equatable {
    /// Names and addresses, lower case; names with a wildcard as they are written.
    package let all: [String]

    private let hosts: Set<String>
    /// What follows the first label of names with a wildcard.
    private let parents: Set<String>

    /// The names in this list.
    init(_ names: [String]) {
        all = names
        hosts = Set(names.filter { !$0.hasPrefix("*.") })
        parents = Set(names.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst(2)) })
    }

    /// The alternative names of a certificate. Its subject does not count.
    init(_ certificate: Certificate) {
        let names = (try? certificate.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames()
        self.init(
            names.compactMap { name in
                switch name {
                case .dnsName(let name): name.lowercased()
                case .ipAddress(let bytes):
                    (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes.bytes), port: 0))?.ipAddress
                default: nil
                }
            }
        )
    }

    /// Whether the certificate is for a host, given in lower case and without a port.
    package func contains(_ host: String) -> Bool {
        if hosts.contains(host) { return true }
        guard !parents.isEmpty, let dot = host.firstIndex(of: ".") else { return false }
        return parents.contains(String(host[dot...].dropFirst()))
    }
}
