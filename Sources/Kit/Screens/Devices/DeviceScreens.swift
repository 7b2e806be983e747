import Foundation
import QRCodes

/// A device as it is shown.
struct DeviceRow: Encodable, Sendable {
    let id: String
    let name: String
    let profile: String
    let pairedAt: Date
    let lastSeenAt: Date
    /// Whether it has sent the request.
    let current: Bool
    let actions: [Action]

    init(_ device: Device, current: Bool) {
        id = device.id
        name = device.name
        profile = device.profile
        pairedAt = device.pairedAt
        lastSeenAt = device.lastSeenAt
        self.current = current
        let href: Link = "/v1/devices/\(device.id)"
        actions = [
            Action(
                id: "rename",
                title: .rename,
                method: "PATCH",
                href: href,
                fields: [Action.Field("name", .text, value: device.name)]
            ),
            Action(
                id: "unpair",
                title: .unpair,
                method: "DELETE",
                href: href,
                confirm: Action.Confirmation(message: .confirmUnpairing, buttons: [.unpair, .cancel])
            ),
        ]
    }
}

/// `GET /v1/devices`: the devices that the client may see.
struct DevicesScreen: Encodable, Sendable {
    let access: AccessRules.Mode.RawValue
    let devices: [DeviceRow]
    let actions: [Action]
}

/// `POST /v1/pairing/code`: a code, for people to read.
struct PairingCodeScreen: Encodable, Sendable {
    let code: String
    let expiresAt: Date
    let profile: String
    /// Where a device enters it; null if no name of the server is known that others can reach.
    @Nullable var url: String?
    /// Picture of a QR code that leads there with the code, as a `data:` URL; null if there is no address, or a long
    /// one.
    @Nullable var qr: String?

    init(_ made: Pairing.Made, profile: String, url: String?) {
        (code, expiresAt, self.profile) = (made.code.text, made.end, profile)
        self.url = url
        qr = url.flatMap { QRCode(PairingLink.text($0, made.code)) }
            .map { "data:image/svg+xml;base64,\(Data($0.svg.utf8).base64EncodedString())" }
    }
}

/// `POST /v1/pairing`: the device that was paired.
struct PairedScreen: Encodable, Sendable {
    let device: DeviceRow
    /// The token; null if a cookie carries it.
    let token: SessionGrant
}
