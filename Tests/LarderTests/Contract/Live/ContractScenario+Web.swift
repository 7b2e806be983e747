import TestKit
import Testing

extension ContractScenario {
    /// The pages and the files that they load.
    func pages() async throws {
        let document = try OpenAPIDocument.load()
        for operation in document.operations where operation.value["tags"] == .array([.string("web")]) {
            let response = try await ask(operation.key)
            try await ask(operation.key, isHead: true)
            try await ask(operation.key, ["Accept-Encoding": "gzip"])
            let tag = try #require(response.headers["etag"], "\(operation.key)")
            try await ask(operation.key, ["If-None-Match": tag])
        }
    }

    /// A front end of a folder without the files that it should have.
    func pagesWithoutFiles() async throws {
        let document = try OpenAPIDocument.load()
        for operation in document.operations where operation.value["tags"] == .array([.string("web")]) {
            try await ask(operation.key)
        }
    }
}
