import HTTPTypes

extension ProblemCode {
    /// 401: the device is not paired.
    package static let pairingRequired = ProblemCode(
        "pairing-required",
        .unauthorized,
        Text("The device is not paired", ru: "Устройство не подключено")
    )
    /// 403: the code is not the one that pairs a device now.
    package static let pairingRefused = ProblemCode(
        "pairing-refused",
        .forbidden,
        Text("The code is not accepted", ru: "Код не принят")
    )
    /// 403: only clients on the server's own machine may do this.
    package static let localOnly = ProblemCode(
        "local-only",
        .forbidden,
        Text("Only clients on the server's machine may do this", ru: "Это доступно только на самом сервере")
    )
    /// 403: the device is for another profile.
    package static let profileNotAllowed = ProblemCode(
        "profile-not-allowed",
        .forbidden,
        Text("The device is for another profile", ru: "Устройство подключено для другого профиля")
    )
    /// 409: no device can be paired.
    package static let pairingUnavailable = ProblemCode(
        "pairing-unavailable",
        .conflict,
        Text("No device can be paired", ru: "Подключить устройство нельзя")
    )
}
