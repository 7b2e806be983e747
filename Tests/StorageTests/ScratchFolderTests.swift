import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Database
@testable import ResponseStore

@Suite struct ScratchFolderTests {
    private func names(_ path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

    @Test("A file lives as long as its place is held, readable by its owner only")
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

    @Test("What a crash has left is gone after the next start")
    func leftovers() throws {
        let directory = try DataDirectory.temporary()
        let folder = try ScratchFolder("uploads", in: directory)
        try Data("left".utf8).write(to: URL(filePath: folder.path + "/left"))
        try FileManager.default.createDirectory(atPath: folder.path + "/job", withIntermediateDirectories: false)
        #expect(try names(try ScratchFolder("uploads", in: directory).path) == [])
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
