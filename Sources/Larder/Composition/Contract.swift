import CContract
import Foundation
import Yams

/// The contract of the screens: openapi.yaml of this version, which is part of the program.
enum Contract {
    /// As it is in the repository.
    static let yaml = Data(bytes: larder_contract_bytes(), count: larder_contract_size())

    /// The same as JSON, which is made when it is first requested.
    static let json = Result { try ContractJSON.text(of: String(decoding: yaml, as: UTF8.self)) }
}

/// Writes YAML as JSON, with the members in their order and without anchors.
struct ContractJSON {
    /// Something in a YAML text that JSON does not have.
    struct NotJSON: Error {
        let value: String
    }

    private var bytes = Data()
    private let encoder = JSONEncoder()

    private init() { encoder.outputFormatting = .withoutEscapingSlashes }

    /// Returns the JSON of a YAML text.
    ///
    /// - Throws: ``NotJSON``, or the error of the parser.
    static func text(of yaml: String) throws -> Data {
        // Times and `=` are texts in the JSON schema of YAML 1.2.
        let resolver = Resolver.default.removing(.timestamp).removing(.value)
        guard let root = try compose(yaml: yaml, resolver) else { throw NotJSON(value: "an empty text") }
        var writer = ContractJSON()
        try writer.write(root)
        return writer.bytes
    }

    private mutating func write(_ node: Node) throws {
        switch node {
        case .mapping(let mapping):
            try write(Array(mapping), between: "{", and: "}") { writer, member in
                guard let name = member.key.string else { throw NotJSON(value: "the name \(member.key)") }
                try writer.write(name)
                writer.bytes.append(UInt8(ascii: ":"))
                try writer.write(member.value)
            }
        case .sequence(let sequence):
            try write(Array(sequence), between: "[", and: "]") { writer, item in try writer.write(item) }
        default: try writeScalar(node)
        }
    }

    private mutating func write<Item>(
        _ items: [Item],
        between opening: Unicode.Scalar,
        and closing: Unicode.Scalar,
        each: (inout ContractJSON, Item) throws -> Void
    ) throws {
        bytes.append(UInt8(ascii: opening))
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            try each(&self, item)
        }
        bytes.append(UInt8(ascii: closing))
    }

    private mutating func writeScalar(_ node: Node) throws {
        switch node.any {
        case is NSNull: bytes.append(contentsOf: "null".utf8)
        case let value as Bool: bytes.append(contentsOf: "\(value)".utf8)
        case let value as Int: bytes.append(contentsOf: "\(value)".utf8)
        case let value as Double where value.isFinite: bytes.append(contentsOf: "\(value)".utf8)
        case let value as String: try write(value)
        default: throw NotJSON(value: "\(node)")
        }
    }

    private mutating func write(_ string: String) throws {
        bytes.append(try encoder.encode(string))
    }
}
