import Foundation
import TestKit
import Yams

extension JSON {
    /// Reads YAML as the JSON that it stands for: times stay the texts that they are.
    init(yaml: String) throws {
        let resolver = Resolver.default.removing(.timestamp).removing(.value)
        self = try Self(loaded: try Yams.load(yaml: yaml, resolver))
    }

    private struct NotJSON: Error {
        let value: String
    }

    private init(loaded value: Any?) throws {
        switch value {
        case nil, is NSNull: self = .null
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .number(Double(value))
        case let value as Double: self = .number(value)
        case let value as String: self = .string(value)
        case let value as [Any]: self = .array(try value.map(Self.init(loaded:)))
        case let value as [AnyHashable: Any]:
            var members: [String: JSON] = [:]
            for (key, member) in value {
                guard let name = key.base as? String else { throw NotJSON(value: "key \(key)") }
                members[name] = try Self(loaded: member)
            }
            self = .object(members)
        default: throw NotJSON(value: "\(value ?? "")")
        }
    }
}
