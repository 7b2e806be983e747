/// The members of a control request's body; those that the call does not know are refused.
struct ControlFields: Sendable {
    private let object: JSONObject

    init(_ value: JSONValue) throws(ControlProblem) {
        guard let object = value.object else {
            throw .invalid(field: "body", value: value.excerpt, accepted: ["a JSON object"])
        }
        self.object = object
    }

    var members: [JSONObject.Member] { object.members }

    subscript(_ name: String) -> JSONValue? { object[name] }

    func requireNone() throws(ControlProblem) { try require(only: []) }

    func require(only names: String...) throws(ControlProblem) { try require(only: names) }

    private func require(only names: [String]) throws(ControlProblem) {
        for member in object.members where !names.contains(member.name) {
            throw .invalid(field: "body", value: member.name, accepted: names.isEmpty ? ["no members"] : names)
        }
    }

    func text(_ name: String) throws(ControlProblem) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string else { throw refusal(name, value, ["a string"]) }
        return text
    }

    func flag(_ name: String) throws(ControlProblem) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let flag = value.bool else { throw refusal(name, value, ["true", "false"]) }
        return flag
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(ControlProblem) -> Int? {
        guard let value = object[name] else { return nil }
        guard case .number(let spelling) = value, let number = Int(spelling), range.contains(number) else {
            throw refusal(name, value, ["whole number \(range.lowerBound)…\(range.upperBound)"])
        }
        return number
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, of: Choice.Type) throws(ControlProblem)
        -> Choice? where Choice.RawValue == String
    {
        guard let value = object[name] else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw refusal(name, value, Choice.allCases.map(\.rawValue))
        }
        return choice
    }

    func choices<Choice: RawRepresentable & CaseIterable & Hashable>(_ name: String, of: Choice.Type)
        throws(ControlProblem) -> Set<Choice>?
    where Choice.RawValue == String {
        guard let value = object[name] else { return nil }
        let choices = value.array?.map { $0.string.flatMap(Choice.init(rawValue:)) }
        guard let choices, !choices.contains(nil) else {
            throw refusal(name, value, ["an array of: " + Choice.allCases.map(\.rawValue).joined(separator: ", ")])
        }
        return Set(choices.compactMap { $0 })
    }

    func required<Value>(_ name: String, _ value: Value?) throws(ControlProblem) -> Value {
        guard let value else { throw .invalid(field: name, value: "", accepted: ["a value"]) }
        return value
    }

    private func refusal(_ name: String, _ value: JSONValue, _ accepted: [String]) -> ControlProblem {
        .invalid(field: name, value: value.excerpt, accepted: accepted)
    }
}

extension JSONValue {
    /// The beginning of its text, as messages show it.
    var excerpt: String { String(decoding: serialized().prefix(60), as: UTF8.self) }
}
