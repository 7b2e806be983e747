import Foundation
import TestKit
import Testing

/// A user's own data as one archive.
@Suite(.timeLimit(.minutes(10))) struct ExportTests {
    private static let script = """
        import json, sys, zipfile
        archive = zipfile.ZipFile(sys.argv[1])
        assert archive.testzip() is None
        manifest = json.loads(archive.read('manifest.json'))
        assert manifest['format'] == 'larder-export' and manifest['profile'] == sys.argv[2], manifest
        names = archive.namelist()
        assert sorted(sum((app['files'] for app in manifest['apps']), ['manifest.json'])) == sorted(names), names
        print(*(f"{app['app']} {sorted(app['counts'].values())}" for app in manifest['apps']), sep=', ')
        for path in names:
            if path.endswith('.json'): json.loads(archive.read(path))
            if path.endswith('.pdf'): assert archive.read(path).startswith(b'%PDF-')
        if 'notes/notes.json' in names:
            notes = json.loads(archive.read('notes/notes.json'))['notes']
            features = json.loads(archive.read('notes/notes.geojson'))['features']
            print([note['body'] for note in notes], [feature['geometry'] is None for feature in features])
            assert 'Laguna St' in archive.read('notes/notes.md').decode()
        print(sorted(path for path in names if path.endswith('.pdf')))
        """

    /// Returns the lines that a Python script prints about an archive.
    private static func read(_ archive: Data, profile: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "export.zip")
        try archive.write(to: file)
        let output = try await RunningProcess.output(of: "python3", ["-c", script, file.path, profile])
        return output.split(separator: "\n").map(String.init)
    }

    @Test("SRV-18 Notes, list and documents are one archive, of one account and profile, without what is in the trash")
    func archive() async throws {
        let larder = try await RunningLarder.start()
        let client = larder.client
        let member = try await client.writer()
        let place = #"{"lat":37.79,"lon":-122.42,"name":"Laguna St"}"#
        for body in [#"{"body":"A dog","location":\#(place)}"#, #"{"body":"Nowhere"}"#, #"{"body":"Deleted"}"#] {
            #expect(try await member.post("/v1/notes", body).status == 201)
        }
        #expect(try await member.delete("/v1/notes/n3").status == 200)
        var documents: [String] = []
        for name in [#"a?b"#, "A?B", "trashed"] {
            let href = try await client.document(of: [DocumentTests.photo])
            #expect(try await client.post("\(href)/save", #"{"name":"\#(name)"}"#).status == 200)
            documents.append(href)
        }
        #expect(try await client.delete(documents[2]).status == 200)

        let export = try await member.get("/v1/export")
        #expect(export.status == 200 && export.headers["content-type"] == "application/zip")
        #expect(export.headers["content-length"] == "\(export.body.count)")
        #expect(
            try await Self.read(Data(export.body), profile: "local") == [
                "pdf [2], shop [0], notes [2]", "['A dog', 'Nowhere'] [False, True]",
                "['documents/A_B.pdf', 'documents/a_b (2).pdf']",
            ]
        )
        let head = try await member.send("HEAD", "/v1/export")
        #expect(head.headers["content-length"] == export.headers["content-length"])
        let other = try await client.get("/v1/export?profile=other")
        #expect(try await Self.read(Data(other.body), profile: "other") == ["pdf [0], shop [0]", "[]"])
    }
}
