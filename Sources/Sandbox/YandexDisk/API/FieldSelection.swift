/// The `fields` parameter: a comma-separated list of members, with dots into nested ones. It filters any response.
struct FieldSelection: Sendable, Equatable {
    /// nil takes everything.
    private var members: [String: FieldSelection]?

    static let all = FieldSelection(members: nil)

    private init(members: [String: FieldSelection]?) { self.members = members }

    init(_ text: String?) {
        self = .all
        let paths = (text ?? "").split(separator: ",").map { $0.split(separator: ".").map { String($0).trimmed } }
            .filter { !$0.isEmpty }
        guard !paths.isEmpty else { return }
        members = [:]
        for path in paths { insert(path[...]) }
    }

    private mutating func insert(_ path: ArraySlice<String>) {
        guard members != nil else { return }
        guard let first = path.first else {
            members = nil
            return
        }
        let isNew = members?[first] == nil
        var below = members?[first] ?? FieldSelection(members: [:])
        // `a,a.b` takes what both name: with one of the recorded clients, `_embedded,_embedded.total` means `total`.
        if path.count > 1 {
            if below.members == nil { below.members = [:] }
            below.insert(path.dropFirst())
        } else if isNew {
            below = .all
        }
        members?[first] = below
    }

    func contains(_ name: String) -> Bool { members.map { $0[name] != nil } ?? true }

    /// What is selected below a member.
    func below(_ name: String) -> FieldSelection { members.map { $0[name] ?? FieldSelection(members: [:]) } ?? .all }

    func applied(to value: JSONValue) -> JSONValue {
        guard members != nil else { return value }
        switch value {
        case .object(let object):
            return .object(
                JSONObject(
                    members: object.members.filter { contains($0.name) }.map {
                        .init(name: $0.name, value: below($0.name).applied(to: $0.value))
                    }
                )
            )
        case .array(let values): return .array(values.map(applied))
        default: return value
        }
    }
}
