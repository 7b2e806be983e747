import Sandbox

extension JSONValue {
    /// Reads a text of JSON; nil if it is none.
    init?(json text: [UInt8]) {
        guard let value = try? JSONParser.parse(text) else { return nil }
        self = value
    }

    /// The value as compact JSON.
    var json: String { String(decoding: serialized(), as: UTF8.self) }

    /// Returns the value with the texts in which names are replaced.
    func filled(with replace: (String) throws(ScenarioFailure) -> String) throws(ScenarioFailure) -> JSONValue {
        switch self {
        case .string(let text): return .string(try replace(text))
        case .array(let items):
            var filled: [JSONValue] = []
            for item in items { filled.append(try item.filled(with: replace)) }
            return .array(filled)
        case .object(var object):
            for index in object.members.indices {
                object.members[index].value = try object.members[index].value.filled(with: replace)
            }
            return .object(object)
        case .null, .bool, .number: return self
        }
    }
}
