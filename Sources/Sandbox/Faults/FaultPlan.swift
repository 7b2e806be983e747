import JSONValues

/// The faults that are applied to a request together: at least one, each kind at most once.
struct FaultPlan: Sendable, Equatable {
    static let online = FaultPlan(.online)

    let faults: [Fault]

    init(_ fault: Fault) { faults = [fault] }

    /// - Throws: if there is none, or if two of them contradict each other.
    init(combining faults: [Fault]) throws(FaultSyntaxError) {
        let text = faults.map(\.description).joined(separator: ", ")
        guard !faults.isEmpty else { throw FaultSyntaxError(text: text, reason: "no fault") }
        guard faults.count > 1 else {
            self.faults = faults
            return
        }
        var kinds: Set<Fault.Kind> = []
        for fault in faults {
            if fault.kind == .connection { throw FaultSyntaxError(text: text, reason: "\(fault) can only be alone") }
            // Several faults that apply to some requests only may be combined: each is drawn, and the last one drawn
            // decides.
            guard fault.isRare || kinds.insert(fault.kind).inserted else {
                throw FaultSyntaxError(text: text, reason: "\(fault) and another decide the same")
            }
        }
        self.faults = faults
    }

    /// Reads `fault, fault, …`, as the request field `Sandbox-Fault` has them.
    init(parsing text: String) throws(FaultSyntaxError) {
        var faults: [Fault] = []
        for part in Self.members(of: text) {
            do throws(FaultSyntaxError) {
                faults.append(try Fault(parsing: part))
            } catch {
                throw FaultSyntaxError(text: text)
            }
        }
        try self.init(combining: faults)
    }

    /// Whether connections are refused, before there is a request.
    var refusesConnections: Bool { faults == [.refused] }

    /// Returns these faults, which are meant for single requests.
    /// - Throws: if one of them can only be that of a whole upstream.
    func ofRequests() throws(FaultSyntaxError) -> FaultPlan {
        guard !refusesConnections else {
            throw FaultSyntaxError(text: description, reason: "connections are refused by a whole upstream only")
        }
        return self
    }

    /// Splits a list at the commas outside of parentheses.
    static func members(of text: String) -> [String] {
        var members = [""]
        var depth = 0
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth == 0 {
                members.append("")
            } else {
                members[members.count - 1].append(character)
            }
        }
        return members
    }

    /// Returns the decision for the `ordinal`-th request (from 0) of these faults; always the same for the same faults
    /// and ordinal.
    func decision(ordinal: UInt64) -> FaultDecision {
        faults.reduce(into: FaultDecision()) { decision, fault in fault.apply(to: &decision, ordinal: ordinal) }
    }
}

extension FaultPlan: CustomStringConvertible {
    var description: String { faults.map(\.description).joined(separator: ", ") }
}

extension Fault {
    /// The decision of a fault. Faults of the same kind cannot be combined.
    enum Kind: Hashable {
        case connection, delay, jitter, response, end, bandwidth, slice, close, hold
    }

    var kind: Kind {
        switch self {
        case .online, .offline, .refused: .connection
        case .slow, .delayed: .delay
        case .jitter: .jitter
        case .error, .html, .flaky, .garbage: .response
        case .lost, .truncated, .pause, .reset: .end
        case .bandwidth: .bandwidth
        case .slice: .slice
        case .slowClose: .close
        case .hold: .hold
        case .sometimes(_, let fault): fault.kind == .connection ? .response : fault.kind
        }
    }
}

/// The decision for one request.
struct FaultDecision: Sendable, Equatable {
    /// The origin of the response.
    enum Source: Sendable, Equatable {
        case upstream
        case status(Int, retryAfter: Int?)
        case html(Int)
        case garbage
        /// The response of a rule, which has been applied so many times.
        case stub(StubResponse, count: Int)
        /// No response: the connection is reset.
        case none

        /// Whether the response is that of the upstream, or that of a rule in place of it.
        var isWithoutFault: Bool {
            switch self {
            case .upstream, .stub: true
            case .status, .html, .garbage, .none: false
            }
        }
    }

    static let response = FaultDecision()

    var source = Source.upstream
    /// Whether the request waits until it is released.
    var isHeld = false
    /// Milliseconds before the response.
    var delay = 0
    var delivery = Delivery()
}

extension Fault {
    /// Adds the effect of this fault on the `ordinal`-th request (from 0).
    func apply(to decision: inout FaultDecision, ordinal: UInt64) {
        switch self {
        case .online: return
        case .offline, .refused: decision.source = .none
        case .slow(let milliseconds): decision.delay += milliseconds
        case .delayed(let distribution):
            decision.delay += distribution.milliseconds(seed: seed, ordinal: ordinal)
        case .jitter(let range, let seed):
            let share = SplitMix64.unitInterval(seed: seed, index: ordinal)
            decision.delay += range.lowerBound + Int(share * Double(range.count))
        case .error(let status, let retryAfter): decision.source = .status(status, retryAfter: retryAfter)
        case .html(let status): decision.source = .html(status)
        case .flaky(let probability, let seed):
            guard SplitMix64.unitInterval(seed: seed, index: ordinal) < probability else { return }
            decision.source = .status(503, retryAfter: nil)
        case .garbage: decision.source = .garbage
        case .hold: decision.isHeld = true
        case .lost: decision.delivery.end = .nothing
        case .truncated: decision.delivery.end = .half
        case .pause(let bytes): decision.delivery.end = .pause(after: bytes)
        case .reset(let bytes): decision.delivery.end = .reset(after: bytes)
        case .bandwidth(let kilobytes): decision.delivery.bytesPerMillisecond = kilobytes
        case .slice(let bytes, let milliseconds):
            decision.delivery.slice = .init(bytes: bytes, pause: .milliseconds(milliseconds))
        case .slowClose(let milliseconds): decision.delivery.closeDelay = .milliseconds(milliseconds)
        case .sometimes(let percent, let fault):
            guard SplitMix64.unitInterval(seed: seed, index: ordinal) * 100 < percent else { return }
            fault.apply(to: &decision, ordinal: ordinal)
        }
    }

    /// The seed of random faults whose text has none. It differs from fault to fault.
    private var seed: UInt64 { SplitMix64.seed(of: description) }
}

extension FaultPlan {
    /// Reads a fault (`"slow(200)"`), or several that are combined (`["slow(200)","bandwidth(32)"]`, or one text).
    /// - Parameter field: the name of the member.
    init(_ value: JSONValue, field: String) throws(ControlProblem) {
        do throws(FaultSyntaxError) {
            if let text = value.string {
                try self.init(parsing: text)
                return
            }
            guard let values = value.array else { throw FaultSyntaxError(text: value.excerpt) }
            var faults: [Fault] = []
            for value in values {
                guard let text = value.string else { throw FaultSyntaxError(text: value.excerpt) }
                faults.append(try Fault(parsing: text))
            }
            try self.init(combining: faults)
        } catch {
            throw .fault(error, field: field)
        }
    }

    /// Reads the faults of some requests.
    init(ofRequests value: JSONValue, field: String) throws(ControlProblem) {
        let plan = try FaultPlan(value, field: field)
        do throws(FaultSyntaxError) {
            self = try plan.ofRequests()
        } catch {
            throw .fault(error, field: field)
        }
    }
}
