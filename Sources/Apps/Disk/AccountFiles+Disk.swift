import Concurrency
import NIOCore
import Screens
import Storage
import Upstream

extension AccountFiles {
    /// The files of the Disk for other apps.
    init(_ files: DiskFiles) {
        self.init(
            app: DiskApp.name,
            fetch: { path, session, folder, maximumBytes in
                let content = try await files.content(path, session)
                return try await Self.fetched(content, to: folder.file(), maximumBytes: maximumBytes)
            },
            store: { path, session, document in
                let parts = try document.parts(0..<document.length)
                try await files.upload(parts, length: document.length, to: path, session)
                return path
            }
        )
    }

    /// Writes a content to a file.
    ///
    /// - Throws: 413 `too-large`; `Problem`, `UpstreamFailure`, `StorageError` of the content.
    private static func fetched(
        _ content: DiskFiles.Content,
        to file: @autoclosure () throws -> ScratchFile,
        maximumBytes: Int
    ) async throws -> Fetched {
        guard content.length <= maximumBytes else {
            throw Problem(.tooLarge, "\(content.name) has \(content.length) bytes; \(maximumBytes) are accepted.")
        }
        let file = try file()
        var beginning: [UInt8] = []
        for try await part in content.parts {
            let bytes = part.readableBytesView
            beginning += bytes.prefix(Self.beginningBytes - beginning.count)
            try file.append(bytes)
        }
        // Written to the file before a child process reads it by its path.
        return Fetched(name: content.name, file: file, beginning: beginning)
    }
}
