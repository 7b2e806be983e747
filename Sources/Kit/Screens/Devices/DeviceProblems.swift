import HTTPTypes

extension Problem {
    /// 401: who asks is not paired, whatever is asked for.
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
