import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite struct ScratchFolderTests {
    private func names(_ path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

    @Test("A file exists as long as its path is held, readable by its owner only")
    func lifetime() throws {
        let directory = try DataDirectory.temporary()
        let folder = try ScratchFolder("uploads", in: directory)
        do {
            let file = try folder.file(".jpg")
            try file.append(Data("ab".utf8))
            try file.append(Data("c".utf8))
            #expect(file.length == 3)
            #expect(try Data(contentsOf: URL(filePath: file.place.path)) == Data("abc".utf8))
            #expect(file.place.path.hasSuffix(".jpg"))
            let mode = try FileManager.default.attributesOfItem(atPath: file.place.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(try names(folder.path) == [])
    }

    @Test("Leftovers of a crash are removed at the next start")
    func leftovers() throws {
        let directory = try DataDirectory.temporary()
        let folder = try ScratchFolder("uploads", in: directory)
        try Data("left".utf8).write(to: URL(filePath: folder.path + "/left"))
        try FileManager.default.createDirectory(atPath: folder.path + "/job", withIntermediateDirectories: false)
        #expect(try names(try ScratchFolder("uploads", in: directory).path) == [])
    }

    @Test("TRUST-02 a folder that is there is emptied and not made again, which a full disk would not allow")
    func fullDisk() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let folder = try ScratchFolder("uploads", in: directory)
        try FileManager.default.createDirectory(atPath: folder.path + "/job/deep", withIntermediateDirectories: true)
        try Data("left".utf8).write(to: URL(filePath: folder.path + "/job/deep/left"))
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "/etc")
        // mkdir is the first call; its errno says that the folder is there.
        let (error, _) = await scope.error(of: .fullDisk, at: 2) { _ = try ScratchFolder("uploads", in: directory) }
        #expect(error == nil)
        #expect(try names(folder.path) == [])
        #expect(FileManager.default.fileExists(atPath: "/etc/hostname"))
    }

    @Test("What cannot be emptied is a typed error")
    func typedErrors() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let folder = try ScratchFolder("uploads", in: directory)
        try Data("left".utf8).write(to: URL(filePath: folder.path + "/left"))
        let (error, _) = await scope.error(of: .brokenDisk, at: 2) { _ = try ScratchFolder("uploads", in: directory) }
        #expect(error as? StorageError == .inputOutput(path: folder.path + "/left", operation: "unlink", code: EIO))
        let path = directory.path + "/file"
        try Data().write(to: URL(filePath: path))
        #expect(throws: StorageError.inputOutput(path: path, operation: "opendir", code: ENOTDIR)) {
            try ScratchFolder("file", in: directory)
        }
    }

    @Test("A file of a child becomes a blob by its name alone, and its place keeps nothing")
    func adoption() throws {
        let database = try LarderDatabase.temporary()
        let folder = try ScratchFolder("uploads", in: database.directory)
        do {
            let place = folder.place(".pdf")
            try Data("made by a child".utf8).write(to: URL(filePath: place.path))
            let blob = try database.blobs.adopt(place)
            #expect(blob.length == 15)
            #expect(try database.blobs.reader(blob).readAll() == Data("made by a child".utf8))
            #expect(
                try FileManager.default.attributesOfItem(atPath: database.blobs.filePath(of: blob))[.posixPermissions]
                    as? Int == 0o600
            )
            try database.write { try database.blobs.insert(blob, in: $0) }
        }
        #expect(try names(folder.path) == [])
        #expect(try database.blobs.fileNames().count == 1)
    }

    @Test("A missing file and a link are no blob")
    func notAdopted() throws {
        let database = try LarderDatabase.temporary()
        let folder = try ScratchFolder("uploads", in: database.directory)
        let place = folder.place()
        #expect(throws: StorageError.self) { try database.blobs.adopt(place) }
        try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: "/etc/hostname")
        #expect(throws: StorageError.self) { try database.blobs.adopt(place) }
        #expect(try database.blobs.fileNames() == [])
    }
}
