import Foundation

/// All data of the simulated service.
struct DiskModel: Sendable, Codable {
    var trees: [DiskTree]
    var links: DiskLinks
    var operations = DiskOperations()
    /// Targets of uploads, by the last part of their links.
    var uploads: [String: DiskUpload] = [:]
    /// Errors that the next calls return.
    var planned: [PlannedFailure] = []
    private var uploadCount = 0

    init(trees: [DiskTree], links: DiskLinks) {
        self.trees = trees
        self.links = links
    }

    func account(login: String) -> Int? { trees.firstIndex { $0.account.login == login } }

    /// Registers an upload and its operation; returns the last part of its link.
    mutating func register(_ upload: DiskUpload, now: Date) -> String {
        uploadCount += 1
        let stamp = now.formatted(.iso8601).filter { $0.isNumber || $0 == "T" }
        let secret = Hexadecimal.text(links.mac("upload \(uploadCount) \(upload.path)").prefix(12))
        let target = "\(stamp).000.utd.\(secret)-k01s.\(uploadCount)"
        uploads[target] = upload
        return target
    }
}

/// An upload that a link was given for.
struct DiskUpload: Sendable, Codable {
    let account: Int
    let path: DiskPath
    let overwrite: Bool
    let operation: String
    var expires: Date
}

/// An error that a call returns instead of being carried out, a number of times.
struct PlannedFailure: Sendable, Codable {
    /// A method and a path, such as `PUT /resources/publish`.
    let call: String
    let failure: DiskFailure
    var times: Int
}
