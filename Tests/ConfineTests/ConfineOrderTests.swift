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

    @Test("only the folder may be changed, and what is in it may not be run")
    func grants() throws {
        let order = try #require(
            ConfineOrder([
                "--read", "/data/photo", "--sockets", "/sockets", "--folder", "/jobs/1", "--",
                "/opt/office7/program/soffice",
            ])
        )
        let grants = order.grants(programs: ["/toolchain/lib"])
        #expect(grants.filter { $0.rights.contains(.writeFile) }.map(\.path) == ["/dev/null", "/jobs/1"])
        #expect(
            grants.filter { $0.rights.contains(.execute) }.map(\.path)
                == [
                    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/toolchain/lib", "/opt/office7/program",
                    "/opt/office7",
                ]
        )
        #expect(grants.contains(Grant("/data/photo", .reading)) && grants.contains(Grant("/sockets", .makeSocket)))
        for closed in ["/", "/etc", "/home", "/root", "/proc", "/tmp", "/var", "/jobs", "/data", "/opt", "/dev"] {
            #expect(!grants.contains { $0.path == closed }, "\(closed)")
        }
    }

    @Test("the folders of what a process consists of")
    func loaded() {
        let maps = [
            "55d0-55d1 r-xp 00000000 08:01 131  /srv/larder/bin/larder-confine\n",
            "7f00-7f01 r--p 00000000 08:01 132  /usr/lib/x86_64-linux-gnu/libc.so.6\n",
            "7f01-7f02 r-xp 00001000 08:01 132  /usr/lib/x86_64-linux-gnu/libc.so.6\n",
            "7ffc-7ffd rw-p 00000000 00:00 0  [stack]\n",
            "7f03-7f04 rw-p 00000000 00:00 0 \n", "7f05-7f06 r--p 00000000 08:01 133  /libfirst.so\n",
        ]
        #expect(LoadedFiles.folders(in: maps) == ["/srv/larder/bin", "/usr/lib/x86_64-linux-gnu"])
        #expect(LoadedFiles.folders().contains { $0.contains("/lib") })
    }
}
