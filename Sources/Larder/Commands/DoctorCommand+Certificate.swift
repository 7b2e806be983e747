import Certificates
import Foundation

/// Checks the certificate of the server, as `larder serve` does at its start, and whether it fits the address.
enum CertificateCheck {
    /// - Parameter now: The time at which the certificate has to be valid.
    /// - Returns: Nothing for a server without TLS.
    static func findings(_ http: HTTPConfiguration, now: Date) -> [Check] {
        guard let files = http.certificate else { return [] }
        do throws(CertificateError) {
            return [finding(try ServerCertificate(files, protocols: [], now: now), http, now)]
        } catch {
            return [Check("certificate", .broken, "\(error)")]
        }
    }

    private static func finding(_ certificate: ServerCertificate, _ http: HTTPConfiguration, _ now: Date) -> Check {
        let names = certificate.names.all.joined(separator: " ")
        var flaws: [String] = []
        if certificate.isKeyPublic { flaws.append("every user of this machine may read its key") }
        if certificate.notAfter.timeIntervalSince(now) < CertificateReload.warningTime {
            flaws.append("it ends soon")
        }
        if !Self.anyAddress.contains(http.host), !certificate.names.contains(http.host.lowercased()) {
            flaws.append("it is not for \(http.host), the address that is listened on")
        }
        let detail = "for \(names), until \(CertificateError.text(of: certificate.notAfter))"
        return Check(
            "certificate",
            flaws.isEmpty ? .well : .degraded,
            ([detail] + flaws).joined(separator: "; ")
        )
    }

    /// Addresses that are no address of a client's request.
    private static let anyAddress: Set<String> = ["0.0.0.0", "::"]
}
