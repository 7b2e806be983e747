import Foundation
import TestKit
import Testing

@testable import Confine

@Suite struct ConfineOrderTests {
    @Test("options, then the program with its arguments, whatever they look like")
    func reads() throws {
        let order = try #require(
            ConfineOrder([
                "--strict", "--parent", "7", "--read", "/a", "--read", "/b c", "--folder", "/jobs/1", "--",
                "/usr/bin/vips", "--read", "--", "-x",
            ])
        )
        #expect(order.isStrict && order.parent == 7)
        #expect(order.reads == ["/a", "/b c"])
        #expect(order.folder == "/jobs/1")
        #expect(order.command == ["/usr/bin/vips", "--read", "--", "-x"])
    }

    @Test(
        "what makes no sense is refused, so that nothing runs with more than was meant",
        arguments: [
            [], ["--folder", "/jobs/1"], ["--folder", "/jobs/1", "--"], ["--", "/bin/true"],
            ["--folder", "work", "--", "/bin/true"],
            ["--folder", "/jobs/1", "--", "true"], ["--read", "a", "--folder", "/jobs/1", "--", "/bin/true"],
            ["--folder", "/jobs/1", "--write", "/", "--", "/bin/true"], ["--folder", "/jobs/1", "/bin/true"],
            ["--folder"],
            ["--parent", "x", "--folder", "/jobs/1", "--", "/bin/true"],
        ]
    )
    func refused(arguments: [String]) {
        #expect(ConfineOrder(arguments) == nil)
    }

    @Test("TRUST-26 only the folder may be changed, what is in it may not be run, and no other folder is opened")
    func grants() throws {
        let order = try #require(
            ConfineOrder([
                "--read", "/data/photo", "--sockets", "/sockets", "--folder", "/jobs/1", "--",
                "/opt/larder/bin/larder-pdf-worker",
            ])
        )
        let grants = order.grants(build: ["/toolchain/lib/libswiftCore.so"])
        #expect(grants.filter { $0.rights.contains(.writeFile) }.map(\.path) == ["/dev/null", "/jobs/1"])
        #expect(
            grants.filter { $0.rights.contains(.execute) }.map(\.path)
                == [
                    "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/bin", "/lib", "/lib32",
                    "/lib64", "/toolchain/lib/libswiftCore.so", "/opt/larder/bin/larder-pdf-worker",
                ]
        )
        #expect(grants.contains(Grant("/data/photo", .reading)) && grants.contains(Grant("/sockets", .makeSocket)))
        for closed in [
            "/", "/etc", "/home", "/root", "/proc", "/tmp", "/var", "/jobs", "/data", "/opt", "/dev", "/usr",
            "/usr/local", "/opt/larder", "/opt/larder/bin", "/toolchain/lib",
        ] {
            #expect(!grants.contains { $0.path == closed }, "\(closed)")
        }
    }

    @Test(
        "a LibreOffice that is not of the distribution has its own folder",
        arguments: [
            ("/opt/office7/program/soffice", "/opt/office7"), ("/usr/bin/soffice", nil), ("/program/soffice", nil),
            ("/opt/office7/program/vips", nil),
        ]
    )
    func office(program: String, folder: String?) throws {
        let grants = try #require(ConfineOrder(["--folder", "/jobs/1", "--", program])).grants(build: [])
        let last = try #require(grants.last { $0.rights.contains(.execute) })
        #expect(last.path == folder ?? program)
    }

    @Test("the folders of the libraries that a process consists of, without those of the system")
    func loaded() throws {
        let maps = [
            "55d0-55d1 r-xp 00000000 08:01 131  /srv/larder/bin/larder-confine\n",
            "7f00-7f01 r--p 00000000 08:01 132  /usr/lib/x86_64-linux-gnu/libc.so.6\n",
            "7f01-7f02 r-xp 00001000 08:01 132  /srv/swift/linux/libswiftCore.so\n",
            "7f01-7f02 r-xp 00001000 08:01 132  /srv/swift/linux/libswift_Concurrency.so\n",
            "7f01-7f02 r--s 00001000 08:01 134  /srv/data/larder.sqlite\n",
            "7ffc-7ffd rw-p 00000000 00:00 0  [stack]\n",
            "7f03-7f04 rw-p 00000000 00:00 0 \n", "7f05-7f06 r--p 00000000 08:01 133  /libfirst.so\n",
        ]
        #expect(LoadedFiles.folders(in: maps) == ["/srv/swift/linux"])
        let folder = try TemporaryFolder()
        for name in ["libb.so", "libc.so.6", "so", "key.pem", "solid.txt", "notes.so.txt"] {
            try Data().write(to: folder.url.appending(path: name))
        }
        #expect(
            LoadedFiles.libraries(in: folder.path).sorted()
                == ["libb.so", "libc.so.6", "notes.so.txt"].map { "\(folder.path)/\($0)" }
        )
    }
}
