/// Addresses at which a device is paired.
package enum PairingLink {
    /// Returns the address of the page that asks for a code.
    package static func page(_ origin: String) -> String { "\(origin)/pair" }

    /// Returns the same with the code, for a QR code. The code is in the fragment, which browsers send to no server.
    package static func text(_ page: String, _ code: PairingCode) -> String { "\(page)#\(code.text)" }
}
