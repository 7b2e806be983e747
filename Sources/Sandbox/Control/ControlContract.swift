import CContract
import Foundation
import HTTPTypes

/// The contract of the controls: openapi-sandbox.yaml of this version, which is part of the program.
enum ControlContract {
    static let response = UpstreamResponse(
        status: .ok,
        headers: [.contentType: "application/yaml; charset=utf-8"],
        body: Array(Data(bytes: larder_controls_bytes(), count: larder_controls_size()))
    )
}
