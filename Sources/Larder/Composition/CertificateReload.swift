import Certificates
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the certificate again at each SIGHUP, and says in the log what has become of it.
struct CertificateReload: Sendable {
    /// How long before its end a certificate is warned about: renewal is due after two thirds of the 90 days that
    /// public authorities give.
    static let warningTime: TimeInterval = 21 * 86_400

    private let certificate: ServedCertificate
    private let signals: UnixSignalsSequence
    private let logger: Logger

    /// Takes the signal, which would end the process otherwise.
    init(of certificate: ServedCertificate, logger: Logger) async {
        self.certificate = certificate
        self.logger = logger
        signals = await UnixSignalsSequence(trapping: .sighup)
        report("a TLS certificate is served")
    }

    /// Waits for signals until the server stops.
    func run() async {
        for await _ in signals.cancelOnGracefulShutdown() {
            do throws(CertificateError) {
                try certificate.reload(now: Date())
                report("the TLS certificate was read again")
            } catch {
                logger.error("the TLS certificate stays as it was", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func report(_ event: Logger.Message) {
        let (now, served) = (Date(), certificate.current)
        let end = CertificateError.text(of: served.notAfter)
        let names = served.names.all.joined(separator: " ")
        logger.notice(event, metadata: ["names": "\(names)", "until": "\(end)"])
        if served.isKeyPublic { logger.warning("every user of this machine may read the key of the certificate") }
        if served.notAfter.timeIntervalSince(now) < Self.warningTime {
            logger.warning("the TLS certificate ends soon", metadata: ["until": "\(end)"])
        }
    }
}
