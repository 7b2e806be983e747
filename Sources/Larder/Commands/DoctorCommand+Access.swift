import Screens

/// Says who gets in.
enum AccessFinding {
    static func finding(_ http: HTTPConfiguration) -> Check {
        do throws(AccessCheck) {
            try AccessCheck.check(http)
        } catch {
            return Check("access", .broken, "\(error)")
        }
        switch http.access {
        case .loopback: return Check("access", .well, "this machine only")
        case .open:
            let isBehindProxy = http.publicURL != nil
            return Check("access", isBehindProxy ? .well : .degraded, "everyone who reaches \(http.host):\(http.port)")
        case .pairing:
            let isSecure = http.certificate != nil || http.publicURL != nil
            guard !isSecure else { return Check("access", .well, "paired devices") }
            let flaw = "without a certificate their tokens go over the network in clear"
            return Check("access", .degraded, "paired devices; \(flaw)")
        }
    }
}
