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
            guard kinds.insert(fault.kind).inserted else {
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

    /// Returns the faults as those of some requests.
    /// - Throws: if they are of a whole upstream only.
    func ofRequests() throws(FaultSyntaxError) -> FaultPlan {
        guard !refusesConnections else {
            throw FaultSyntaxError(text: description, reason: "connections are refused by a whole upstream only")
        }
        return self
    }

    /// Splits a list at the commas outside of parentheses.
    private static func members(of text: String) -> [String] {
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

    /// Returns what happens to the `ordinal`-th request (from 0) of these faults; always the same for the same faults
    /// and ordinal.
    func decision(ordinal: UInt64) -> FaultDecision {
        faults.reduce(into: FaultDecision()) { decision, fault in fault.apply(to: &decision, ordinal: ordinal) }
    }
}

extension FaultPlan: CustomStringConvertible {
    var description: String { faults.map(\.description).joined(separator: ", ") }
}

extension Fault {
    /// What a fault decides. Faults of the same kind cannot be combined.
    enum Kind: Hashable {
        case connection, delay, jitter, response, end, bandwidth, slice, close, hold
    }

    var kind: Kind {
        switch self {
        case .online, .offline, .refused: .connection
        case .slow: .delay
        case .jitter: .jitter
        case .error, .html, .flaky, .garbage: .response
        case .lost, .truncated, .pause, .reset: .end
        case .bandwidth: .bandwidth
        case .slice: .slice
        case .slowClose: .close
        case .hold: .hold
        }
    }
}
