//! The tool on a cluster of programs on this machine.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fastmmd_fleet::made::Fleet;

use crate::fleet::large;
use crate::run::{generate, lines, program, said, tool, used};

/// A program of the cluster, which ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(program("fastmmd-fleet-cluster"));
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Processor time so far, in ticks.
    fn ticks(&self) -> u64 {
        used(&self.0).0
    }
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

#[test]
fn two_executors_of_which_one_is_killed_give_the_same_bytes() {
    let fleet = large();
    // All bytes of the state, as text.
    let sql = "SELECT mmd_embed('frequencies=64', x, y, z) AS state FROM t";
    let table = format!("t={}", fleet.display());
    let here = tool(&["query", sql, "--table", &table, "--json"]);
    let state = lines(&here)[0]["state"].as_str().unwrap().to_owned();
    assert!(state.starts_with("464d464c") && state.len() > 2 * 16 * 64, "{state}");
    let port = free_port();
    let _scheduler = Server::start(&["scheduler", "--port", &port, "--timeout", "3"]);
    let executor = || {
        let (data, grpc) = (free_port(), free_port());
        Server::start(&[
            "executor",
            "--scheduler-port",
            &port,
            "--port",
            &data,
            "--grpc-port",
            &grpc,
            "--parts",
            "1",
            "--heartbeat",
            "1",
        ])
    };
    let (stays, mut killed) = (executor(), executor());
    let url = format!("http://127.0.0.1:{port}");
    let ask = |sql: &str| {
        let mut command = Command::new(program("fastmmd-fleet-cluster"));
        command.args(["query", sql, "--table", &table, "--json", "--ballista", &url]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let query = || ask(sql);
    // Until both have worked on a query that was answered: a kill before that would show nothing.
    let deadline = Instant::now() + Duration::from_secs(240);
    loop {
        assert!(Instant::now() < deadline, "no cluster of two");
        let before = [stays.ticks(), killed.ticks()];
        let answered = query().wait_with_output().unwrap().status.success();
        let worked = [stays.ticks(), killed.ticks()];
        if answered && worked.iter().zip(before).all(|(now, before)| *now >= before + 20) {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    // A whole command gives the same list, line by line.
    let small = Fleet { devices: 400, rows: 200, odd: 4, moved: 0, seed: 9 };
    let small = generate(&small, "ballista");
    let odd = ["odd", small.text(), "--by", "site", "--all", "--json"];
    let alone = tool(&odd);
    let mut command = Command::new(program("fastmmd-fleet-cluster"));
    let there = command.args(odd).args(["--ballista", &url]).output().unwrap();
    assert_eq!(there.status.code(), Some(1), "{}", said(&there).1);
    assert_eq!((said(&there).0, lines(&there).len()), (said(&alone).0, 401));
    // An error of a function crosses the network as text of the engine's own, which still names the device.
    let bad =
        "SELECT mmd_embed(CASE WHEN device = 'pump-00007' THEN x / 0 ELSE x END, device) FROM t";
    let refused = ask(bad).wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).1.contains("\"pump-00007\""), "{}", said(&refused).1);
    let before = killed.ticks();
    let mut running = query();
    // It has worked on this query for a fifth of a second.
    while killed.ticks() < before + 20 {
        assert!(running.try_wait().unwrap().is_none(), "the query ended before the kill");
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    assert!(running.try_wait().unwrap().is_none(), "the query ended before the kill");
    let mut there = running.wait_with_output().unwrap();
    if !there.status.success() {
        println!("asked again: {}", said(&there).1.trim());
        there = query().wait_with_output().unwrap();
    }
    assert!(there.status.success(), "{}", said(&there).1);
    assert_eq!(said(&there).0, said(&here).0);
}
