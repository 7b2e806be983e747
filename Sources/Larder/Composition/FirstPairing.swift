import Certificates
import Foundation
import QRCodes
import Screens

/// What a server says at its start if devices have to be paired and none is.
enum FirstPairing {
    /// Returns a text with a code; nil if there are devices, or none are needed.
    static func text(_ resources: ServerResources, port: Int?) -> String? {
        let http = resources.configuration.http
        guard http.access == .pairing, resources.devices.all.isEmpty else { return nil }
        let made = resources.pairing.makeCode()
        let names = resources.certificate?.current.names
        return text(made.code, at: PairingAddress.origin(of: http, names, port: port ?? 0))
    }

    /// Returns a line for the console; before it, on a terminal, a QR code that leads to the page with the code.
    ///
    /// - Parameter isTerminal: Whether the text is written to a terminal.
    static func text(_ code: PairingCode, at origin: String?, isTerminal: Bool = isOnTerminal) -> String {
        let page = origin.map(PairingLink.page)
        let place = page.map { "at \($0)" } ?? "at /pair, under a name of this server (http.allowed_hosts)"
        let picture = page.flatMap { QRCode(PairingLink.text($0, code)) }?.terminalText ?? ""
        let line = "pair a device \(place) with the code \(code.text), in ten minutes; larder pair makes another\n"
        return (isTerminal ? picture : "") + line
    }

    private static var isOnTerminal: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" } ?? false
    }
}
