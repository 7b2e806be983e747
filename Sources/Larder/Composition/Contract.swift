import CContract
import Foundation
import Sandbox

/// The contract of the screens: openapi.yaml of this version, which is part of the program.
enum Contract {
    /// As it is in the repository.
    static let yaml = Data(bytes: larder_contract_bytes(), count: larder_contract_size())

    /// The same as JSON, with the members in their order, which is made when it is first requested.
    static let json = Result { Data(try JSONValue(yaml: String(decoding: yaml, as: UTF8.self)).serialized()) }
}
