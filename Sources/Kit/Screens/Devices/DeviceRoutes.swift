import Foundation
import HTTPTypes

/// `/v1/pairing` and `/v1/devices`: pairing by a code, and the paired devices.
package struct DeviceRoutes: Sendable {
    /// Where a code is exchanged for the token of a device.
    static let pairing = "/v1/pairing"
    /// Name under which a cookie keeps the token.
    static let cookie = "device"

    private let devices: DeviceStore
    private let codes: Pairing
    private let mode: AccessRules.Mode
    private let address: String?
    private let events: EventStream

    /// - Parameters:
    ///   - codes: Makes codes, and devices from codes.
    ///   - mode: The clients that have access.
    ///   - address: The origin at which devices reach the server; nil if that is not known.
    ///   - events: Is notified when devices change.
    package init(
        devices: DeviceStore,
        codes: Pairing,
        mode: AccessRules.Mode,
        address: String?,
        events: EventStream
    ) {
        self.devices = devices
        self.codes = codes
        self.mode = mode
        self.address = address
        self.events = events
    }

    package var routes: [Route] {
        [
            Route(.post, Self.pairing, "devices.pairing", pair).body("code", "name").unkeyed(),
            Route(.post, "\(Self.pairing)/code", "devices.code", makeCode).body("profile").unkeyed(),
            Route(.get, "/v1/devices", "devices", list),
            Route(.patch, "/v1/devices/{id}", "devices.device", rename).body("name").unkeyed(),
            Route(.delete, "/v1/devices/{id}", "devices.device", remove).unkeyed(),
        ]
    }

    // MARK: Pairing

    @Sendable private func pair(_ request: ScreenRequest) async throws -> ScreenResponse {
        try request.writePreconditions().check(version: nil)
        let carrier = try request.sessionCarrier()
        let fields = try await request.jsonObject()
        guard mode == .pairing else { throw Problem(.pairingUnavailable, .pairingIsOff) }
        let name = try name(in: fields)
        guard let code = try fields.string("code") else {
            throw Problem.validation([.field("/code", "required", .wrongCode)])
        }
        let (device, token) = try await codes.pair(code, name: name, from: request.clientAddress, carrier)
        publish()
        let grant = SessionGrant(token, carrier)
        let screen = PairedScreen(device: DeviceRow(device, current: true), token: grant)
        let response = try ScreenResponse.local(
            screen,
            "devices.pairing",
            request,
            status: .created,
            selfLink: "/v1/devices",
            headerFields: [.location: "/v1/devices"]
        )
        return carrier == .cookie ? response.keepingDevice(token, request) : response
    }

    @Sendable private func makeCode(_ request: ScreenRequest) async throws -> ScreenResponse {
        try request.writePreconditions().check(version: nil)
        guard request.context.isOperator else { throw Problem(.localOnly, .localOnly) }
        let fields = try await request.optionalJSONObject()
        guard mode == .pairing else { throw Problem(.pairingUnavailable, .pairingIsOff) }
        let profile = try fields?.profile() ?? Pairing.standardProfile
        let made = codes.makeCode(profile: profile)
        let screen = PairingCodeScreen(made, profile: profile, url: address.map(PairingLink.page))
        return try .local(screen, "devices.code", request, status: .created, headerFields: [.cacheControl: "no-store"])
    }

    // MARK: Devices

    @Sendable private func list(_ request: ScreenRequest) throws -> ScreenResponse {
        let shown: [Device]
        if let id = request.context.deviceID {
            shown = devices.device(id).map { [$0] } ?? []
        } else {
            guard request.context.isOperator else { throw Problem(.localOnly, .localOnly) }
            shown = devices.all
        }
        let pair = Action(
            id: "pair",
            title: .pairDevice,
            method: "POST",
            href: "/v1/pairing/code",
            fields: [Action.Field("profile", .text, .profile, value: Pairing.standardProfile, required: false)],
            disabled: mode == .pairing ? nil : .pairingIsOff
        )
        let screen = DevicesScreen(
            access: mode.rawValue,
            devices: shown.map { DeviceRow($0, current: $0.id == request.context.deviceID) },
            actions: request.context.isOperator ? [pair] : []
        )
        return try .local(screen, "devices", request, state: shown.isEmpty ? .empty : .content)
    }

    @Sendable private func rename(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try permitted(request)
        let name = try name(in: try await request.jsonObject())
        guard let device = try await devices.rename(id, to: name) else { throw Problem.notFound(.noDevice) }
        publish()
        return try .local(
            DeviceRow(device, current: id == request.context.deviceID),
            "devices.device",
            request,
            selfLink: "/v1/devices"
        )
    }

    @Sendable private func remove(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try permitted(request)
        try await devices.remove(id, sparing: request.context.channel)
        publish()
        let response = ScreenResponse(status: .noContent, body: .none)
        return id == request.context.deviceID ? response.forgettingDevice(request) : response
    }

    /// Returns the device that a request is for, if its client may change it: an operator any, a device itself.
    private func permitted(_ request: ScreenRequest) throws -> String {
        let (id, context) = (try request.parameter("id"), request.context)
        guard context.isOperator || id == context.deviceID else {
            throw Problem(.localOnly, .localOnly)
        }
        guard devices.device(id) != nil else { throw Problem.notFound(.noDevice) }
        try request.writePreconditions().check(version: 1)
        return id
    }

    private func name(in fields: JSONFields) throws -> String {
        guard let name = try fields.string("name").flatMap(Device.name) else { throw Problem.deviceName }
        return name
    }

    private func publish() {
        events.publish(.devicesChanged)
    }
}

extension ScreenResponse {
    /// Returns the response with the cookie of a device, which browsers also send for pages.
    fileprivate func keepingDevice(_ token: String, _ request: ScreenRequest) -> ScreenResponse {
        settingCookie(DeviceRoutes.cookie, token, age: SessionCookies.longestAge, path: "/", request)
    }

    /// Returns the response to the device that has removed itself.
    fileprivate func forgettingDevice(_ request: ScreenRequest) -> ScreenResponse {
        request.credentials.text(keptIn: DeviceRoutes.cookie) == nil
            ? self : forgettingCookie(DeviceRoutes.cookie, path: "/", request)
    }
}

/// A device in the list of devices.
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
                fields: [Action.Field("name", .text, .name, value: device.name)]
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
    /// A QR code of the page with the code, as a `data:` URL; null if there is no address, or it is too long.
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

extension Problem {
    /// 401: the client is not paired; the response is the same for every target.
    static var pairingRequired: Problem {
        var problem = Problem(.pairingRequired, .pairingRequired, href: "/pair")
        problem.headerFields[.wwwAuthenticate] = "Larder-Device"
        return problem
    }

    /// 409: the table of devices is full.
    static var tooManyDevices: Problem { Problem(.pairingUnavailable, .tooManyDevices) }

    /// 422: the name of a device is not acceptable.
    static var deviceName: Problem { .validation([.field("/name", "invalid", .deviceNameForm)]) }
}
