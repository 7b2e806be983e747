import Foundation

/// Codes for devices without a browser (RFC 8628).
extension YandexAccounts {
    /// Seconds for which a code of a device is valid, and between two of its questions.
    static let (deviceLifetime, deviceInterval) = (300, 5)

    /// A device that waits for a user's consent.
    struct Device: Sendable, Equatable, Codable {
        enum Decision: Sendable, Equatable, Codable {
            case open, denied
            case allowed(login: String)
        }

        /// The code that the user types.
        let userCode: String
        let expires: Date
        var decision = Decision.open
    }

    /// Returns a new pair of codes.
    func registerDevice() -> (deviceCode: String, userCode: String) {
        withState { state, now in
            let code = secret("device", &state)
            let userCode = String(secret("user code", &state).prefix(8))
            state.devices[code] = Device(
                userCode: userCode,
                expires: now.addingTimeInterval(TimeInterval(Self.deviceLifetime))
            )
            return (code, userCode)
        }
    }

    /// Notes the decision of a user who has typed a code; false if no device waits with it.
    func decide(userCode: String, _ decision: Device.Decision) -> Bool {
        withState { state, now in
            let waiting = state.devices.first { $0.value.userCode == userCode && now < $0.value.expires }
            guard let waiting else { return false }
            state.devices[waiting.key]?.decision = decision
            return true
        }
    }

    /// Returns the login that a device was given access to, once.
    func redeemDevice(_ code: String) throws(OAuthFailure) -> String {
        let found = withState { state, now in
            let device = state.devices[code]
            if device?.decision != .open { state.devices[code] = nil }
            return (device: device, now: now)
        }
        guard let device = found.device else { throw .badCode }
        guard found.now < device.expires else { throw .expiredCode }
        switch device.decision {
        case .open: throw .pending
        case .denied: throw .denied
        case .allowed(let login): return login
        }
    }
}
