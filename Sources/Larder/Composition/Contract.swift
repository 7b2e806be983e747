import CContract
import Foundation
import Sandbox
import Screens

/// The contract of the screens: openapi.yaml of this version, which is part of the program.
enum Contract {
    /// As it is in the repository.
    static let yaml = PreparedBytes(
        Data(bytes: larder_contract_bytes(), count: larder_contract_size()),
        type: MediaType.yaml
    )

    /// The same as JSON, with the members in their order, which is made when it is first requested.
    static let json = Result<PreparedBytes, any Error> {
        let value = try JSONValue(yaml: String(decoding: yaml.bytes, as: UTF8.self))
        return PreparedBytes(Data(value.serialized()), type: MediaType.json)
    }
}
