import Foundation
package import Freshness
import HTTPTypes
package import ServiceLifecycle
package import Upstream

/// Notices faults that are set on the sandbox's own port, past ``SandboxRoutes``: while an event stream is open, it
/// reads the state of the sandbox each second.
///
/// Only a server that was started with its sandbox has it. A real upstream is not asked for this: its
/// outage is noticed by the next request (docs/contract.md, "Provenance").
package struct SandboxWatch: Service {
    /// Time between two looks.
    static let interval: Duration = .seconds(1)
    private static let limits = TransportLimits(total: .seconds(5), maximumBytes: 1 << 20, publicAddressesOnly: false)

    private let controls: String
    private let transport: any Transport
    private let clock: WallClock
    private let isNeeded: @Sendable () -> Bool
    private let changed: @Sendable (_ upstream: String) -> Void

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - controls: URL of the sandbox's controls.
    ///   - transport: Sends the requests.
    ///   - isNeeded: Whether an event stream is open now.
    ///   - changed: Is called with the name of an upstream whose fault is another one.
    package init(
        controls: String,
        transport: any Transport,
        clock: WallClock,
        isNeeded: @escaping @Sendable () -> Bool,
        changed: @escaping @Sendable (_ upstream: String) -> Void
    ) {
        self.controls = controls
        self.transport = transport
        self.clock = clock
        self.isNeeded = isNeeded
        self.changed = changed
    }

    /// Looks until the server stops.
    package func run() async {
        await cancelWhenGracefulShutdown {
            var known: [String: String] = [:]
            while !Task.isCancelled {
                do {
                    try await clock.sleep(Self.interval)
                } catch {
                    return  // the server stops
                }
                guard isNeeded(), let faults = await faults() else { continue }
                for (name, fault) in faults where known[name, default: Self.none] != fault { changed(name) }
                known = faults
            }
        }
    }

    /// What the sandbox says of an upstream without a fault.
    private static let none = "online"

    /// Returns the faults by upstream; nil if the sandbox did not say.
    private func faults() async -> [String: String]? {
        let request = OutgoingRequest(method: .get, url: controls, headerFields: [:], body: nil, isSentOnce: true)
        guard let response = try? await transport.exchange(request, within: Self.limits), response.status == .ok,
            let state = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any],
            let upstreams = state["upstreams"] as? [[String: Any]]
        else { return nil }
        let named = upstreams.compactMap { one in
            (one["name"] as? String).map { ($0, (one["fault"]).map { "\($0)" } ?? Self.none) }
        }
        return Dictionary(named) { first, _ in first }
    }
}
