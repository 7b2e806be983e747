import Foundation
import HTTPTypes
import Synchronization

/// All simulated upstreams with their faults, and the journal.
final class SimulatedUpstreams: Sendable {
    struct Slot: Sendable {
        let upstream: any SimulatedUpstream
        let gate: FaultGate

        init(upstream: any SimulatedUpstream, faults: RuleSet = RuleSet()) {
            self.upstream = upstream
            gate = FaultGate(faults)
        }
    }

    /// Largest number of upstreams that are made from documents.
    static let mostStubs = 100

    /// The upstreams that every sandbox has.
    private let services: [Slot]
    /// The upstreams that were made from documents.
    private let stubs = Mutex<[Slot]>([])
    let journal = Journal()
    /// The first fault of each upstream.
    let faults: RuleSet
    /// The time of the services and of the journal.
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - documents: OpenAPI documents of further services, by their names.
    ///   - faults: the first fault of each upstream, also of one that is made from a document.
    /// - Throws: ``SandboxError/malformedData(resource:reason:)``.
    init(
        seed: UInt64,
        documents: [String: String] = [:],
        faults: RuleSet = RuleSet(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(SandboxError) {
        self.now = now
        self.faults = faults
        let single: [any SimulatedUpstream] = [
            try SpaceX(seed: seed), try Catalogue(seed: seed), People(seed: seed), Geocoder(),
        ]
        var further: [OpenAPIStub] = []
        for (name, text) in documents.sorted(by: { $0.key < $1.key }) {
            further.append(try OpenAPIStub(name: name, text: text))
        }
        services = (single + YandexDisk.upstreams(seed: seed, now: now) + further).map {
            Slot(upstream: $0, faults: faults)
        }
    }

    /// Simulates no upstream: for the controls of a server with real ones.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
        faults = RuleSet()
        services = []
    }

    var slots: [Slot] { services + stubs.withLock { $0 } }

    func slot(named name: String) -> Slot? {
        services.first { $0.upstream.name == name } ?? stubs.withLock { $0.first { $0.upstream.name == name } }
    }

    /// Resets data, journal and faults, and removes stubs. Data is reset before gates, because held requests are
    /// released and then read the data.
    func reset() {
        for slot in slots { slot.upstream.reset() }
        journal.clear()
        for slot in services { slot.gate.reset() }
        for stub in stubs.withLock({ $0 }) { remove(stub: stub.upstream.name) }
    }

    // MARK: Stubs

    /// The upstreams that were made from documents.
    var stubbed: [OpenAPIStub] { stubs.withLock { $0.compactMap { $0.upstream as? OpenAPIStub } } }

    /// Adds an upstream that was made from a document.
    ///
    /// - Returns: nil if there are too many, or if there is one of that name.
    func add(_ stub: OpenAPIStub) -> Slot? {
        guard !services.contains(where: { $0.upstream.name == stub.name }) else { return nil }
        return stubs.withLock { stubs in
            guard stubs.count < Self.mostStubs, !stubs.contains(where: { $0.upstream.name == stub.name }) else {
                return nil
            }
            let slot = Slot(upstream: stub, faults: faults)
            stubs.append(slot)
            return slot
        }
    }

    /// Removes an upstream that was made from a document; its held requests end.
    ///
    /// - Returns: false if there is none of that name.
    @discardableResult
    func remove(stub name: String) -> Bool {
        let removed = stubs.withLock { stubs -> Slot? in
            guard let index = stubs.firstIndex(where: { $0.upstream.name == name }) else { return nil }
            return stubs.remove(at: index)
        }
        removed?.gate.close()
        return removed != nil
    }

    /// Ends everything that is waited for, because the sandbox stops.
    func close() {
        journal.close()
        for slot in slots { slot.gate.close() }
    }
}

/// An upstream that the sandbox simulates. Its response is a function of the request and the data. Faults, the journal
/// and sockets are handled elsewhere.
protocol SimulatedUpstream: Sendable {
    /// The prefix of its paths.
    var name: String { get }

    /// Responds to a request below the upstream's prefix. `HEAD` is treated like `GET`; the server drops the body.
    func respond(to request: UpstreamRequest) -> UpstreamResponse

    /// Returns an error of that status in the upstream's own form; nil if it has none.
    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse?

    /// Whether the body of a request may have any length and is passed as ``UpstreamRequest/received``.
    func takesLongBody(_ request: UpstreamRequest) -> Bool

    /// Called at the end of a request to which the upstream does not respond, because its connection broke or a fault
    /// responds.
    func breakOff(_ request: UpstreamRequest)

    /// Responds to a request to the control API below `/_sandbox/{name}`.
    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse

    /// Resets the data to that of the start.
    func reset()

    /// Returns the present data.
    func save() -> any Sendable

    /// Takes data that an upstream of the same kind has saved.
    func restore(_ saved: any Sendable)

    /// Returns saved data as JSON; nil if there are none.
    func encode(_ saved: any Sendable) throws -> Data?

    /// Reads the result of ``encode(_:)``.
    func decode(_ data: Data) throws -> any Sendable
}

extension SimulatedUpstream {
    func takesLongBody(_ request: UpstreamRequest) -> Bool { false }

    func breakOff(_ request: UpstreamRequest) {}

    func save() -> any Sendable { () }

    func restore(_ saved: any Sendable) {}

    func encode(_ saved: any Sendable) throws -> Data? { nil }

    func decode(_ data: Data) throws -> any Sendable { () }

    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse? { nil }
}
