import Certificates
import Screens

/// What a server says at its start if devices have to be paired and none is.
enum FirstPairing {
    /// Returns a line with a code; nil if there are devices, or none are needed.
    static func line(_ resources: ServerResources, port: Int?) -> String? {
        let http = resources.configuration.http
        guard http.access == .pairing, resources.devices.all.isEmpty else { return nil }
        let made = resources.pairing.makeCode()
        let names = resources.certificate?.current.names
        return text(made.code, at: PairingAddress.origin(of: http, names, port: port ?? 0))
    }

    /// Returns a line for the console.
    static func text(_ code: PairingCode, at origin: String?) -> String {
        let place = origin.map { "at \($0)/pair" } ?? "at /pair, under a name of this server (http.allowed_hosts)"
        return "pair a device \(place) with the code \(code.text), in ten minutes; larder pair makes another\n"
    }
}
