import HTTPTypes

/// The part of a document that fills the simulated upstreams. It is carried out by their controls.
struct UpstreamSeed {
    /// The members that are of upstreams.
    static let members = ["ships", "products", "people", "disk"]

    private let stage: SimulatedUpstreams

    init(_ stage: SimulatedUpstreams) { self.stage = stage }

    /// Changes the data.
    ///
    /// - Returns: The number of items by member.
    /// - Throws: ``SeedRefusal``; the data are as before then.
    func apply(_ document: JSONObject) throws(SeedRefusal) -> [String: Int] {
        let before = stage.data
        do {
            var counts: [String: Int] = [:]
            for member in document.members where Self.members.contains(member.name) {
                counts[member.name] = try apply(member)
            }
            return counts
        } catch {
            stage.restore(before)
            throw error
        }
    }

    private func apply(_ member: JSONObject.Member) throws(SeedRefusal) -> Int {
        let pointer = "/\(member.name)"
        switch member.name {
        case "ships":
            return try records(member.value, pointer, of: .spacex, clear: .init(.put, "ships", [])) { ship, index in
                let id = ship.object?["id"]?.string ?? Self.shipID(index)
                return ControlCall(.put, "ships/\(id)", ship)
            }
        case "products":
            let clear = ControlCall(.put, "generated", ["count": 0])
            return try records(member.value, pointer, of: .catalogue, clear: clear) { product, index in
                let id = product.object?["id"]?.double.flatMap { Int(exactly: $0) } ?? index + 1
                return ControlCall(.put, "products/\(id)", product)
            }
        case "people":
            let count = try Self.items(member.value, pointer).count
            try carryOut(ControlCall(.put, "people", member.value), of: .people, pointer)
            return count
        default:
            return try disk(member.value, pointer)
        }
    }

    /// Files and folders of the disk, beside those that it has.
    private func disk(_ value: JSONValue, _ pointer: String) throws(SeedRefusal) -> Int {
        guard let members = value.object?.members else { throw Self.refusal(pointer, "It is an object.") }
        var count = 0
        for member in members {
            guard ["files", "folders"].contains(member.name) else {
                throw Self.refusal("\(pointer)/\(member.name)", "Known are files, folders.")
            }
            for (index, item) in try Self.items(member.value, "\(pointer)/\(member.name)").enumerated() {
                let place = "\(pointer)/\(member.name)/\(index)"
                try carryOut(ControlCall(.put, member.name, item), of: .yandexDisk, place)
                count += 1
            }
        }
        return count
    }

    /// Records in place of all others.
    private func records(
        _ value: JSONValue,
        _ pointer: String,
        of upstream: SandboxUpstream,
        clear: ControlCall,
        _ call: (JSONValue, Int) -> ControlCall
    ) throws(SeedRefusal) -> Int {
        let items = try Self.items(value, pointer)
        try carryOut(clear, of: upstream, pointer)
        for (index, item) in items.enumerated() {
            try carryOut(call(item, index), of: upstream, "\(pointer)/\(index)")
        }
        return items.count
    }

    private static func items(_ value: JSONValue, _ pointer: String) throws(SeedRefusal) -> [JSONValue] {
        guard let items = value.array else { throw refusal(pointer, "It is an array.") }
        return items
    }

    /// Returns the identity of a ship that names none: the same for the same place in the document.
    private static func shipID(_ index: Int) -> String {
        let digits = String(index + 1, radix: 16)
        return String(repeating: "0", count: max(0, 24 - digits.count)) + digits
    }

    private static func refusal(_ pointer: String, _ detail: String) -> SeedRefusal {
        SeedRefusal([.init(pointer: pointer, code: "invalid", detail: detail)])
    }

    /// Makes a call to the controls of an upstream.
    private func carryOut(_ call: ControlCall, of upstream: SandboxUpstream, _ pointer: String) throws(SeedRefusal) {
        guard let slot = stage.slot(named: upstream.rawValue) else {
            throw Self.refusal(pointer, "\(upstream.rawValue) is not simulated here.")
        }
        do {
            _ = try slot.upstream.control(call.request)
        } catch {
            let field = error.field.map { $0 == "body" ? "" : "/\($0)" } ?? ""
            throw Self.refusal(pointer + field, error.detail)
        }
    }
}
